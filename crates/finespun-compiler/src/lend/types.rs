//! The names of types, as far as they tell what a local in a cell may be used for. rustc checks in the library that the types
//! are std's (`OfStd`, `Frozen`) where more than compiling depends on it.

use syn::{Expr, Ident, Path, Type};

use crate::scan;

/// Returns whether an expression makes a new value, which is no reference.
pub(super) fn made(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Struct(_) | Expr::Array(_) | Expr::Repeat(_) | Expr::Tuple(_) | Expr::Binary(_) => true,
        Expr::Lit(e) => !matches!(e.lit, syn::Lit::Str(_) | syn::Lit::ByteStr(_)),
        Expr::Macro(e) => ["vec", "format"].iter().any(|name| e.mac.path.is_ident(name)),
        _ => maker(expr).and_then(|path| path.segments.iter().rev().nth(1)).is_some_and(|segment| {
            let name = segment.ident.to_string();
            name.len() > 1 && name.starts_with(char::is_uppercase)
        }),
    }
}

/// Returns the path of the function in `Type::new(..)`.
fn maker(expr: &Expr) -> Option<&Path> {
    let Expr::Call(call) = scan::peel(expr) else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    Some(&path.path)
}

/// Returns the name of the type that `Type::new(..)` makes, if the path may be one of std's. Other functions of a type, such as
/// `String::from_utf8`, may make something else.
pub(super) fn made_type(expr: &Expr) -> Option<&Ident> {
    const MAKERS: &[&str] = &["new", "from", "with_capacity", "default", "from_iter"];
    let path = maker(expr)?;
    let makes = path.segments.last().is_some_and(|last| MAKERS.iter().any(|name| last.ident == name));
    if makes { of_std(path, 1) } else { None }
}

/// Returns the name of a type, if the path may be one of std's.
pub(super) fn written_type(ty: &Type) -> Option<&Ident> {
    let Type::Path(path) = ty else { return None };
    of_std(&path.path, 0)
}

/// Returns the name before the last `behind` segments of a path, if only they follow it, or the path begins in std.
fn of_std(path: &Path, behind: usize) -> Option<&Ident> {
    let segments = &path.segments;
    let name = segments.iter().rev().nth(behind)?;
    let crates = ["std", "alloc", "core"];
    let known = segments.len() == behind + 1 || crates.iter().any(|root| segments[0].ident == root);
    known.then_some(&name.ident)
}

/// Returns whether the methods of a type of this name are known: those that usually take `self` by reference do.
pub(super) fn is_known(name: &Ident) -> bool {
    is_frozen(name) || is_atomic(name) || ["HashMap", "HashSet", "Mutex", "RwLock"].iter().any(|known| name == known)
}

/// Returns whether the `into_` methods of the type of this name take `self` by value (`OfStd` in the library).
pub(super) fn is_consumed(name: &Ident) -> bool {
    is_frozen(name) || is_atomic(name)
}

/// Returns whether a type has a destructor by its name.
pub(super) fn surely_drops(ty: &Type) -> bool {
    const OTHERS: &[&str] = &["Arc", "Rc", "Box", "HashMap", "HashSet"];
    written_type(ty).is_some_and(|name| is_frozen(name) || OTHERS.iter().any(|known| name == known))
}

/// Returns whether this is a collection of std: nothing in it changes through shared references, but its elements, which
/// are elsewhere (`Frozen` in the library).
pub(super) fn is_frozen(name: &Ident) -> bool {
    const KNOWN: &[&str] = &["Vec", "String", "VecDeque", "BTreeMap", "BTreeSet", "BinaryHeap"];
    KNOWN.iter().any(|known| name == known)
}

fn is_atomic(name: &Ident) -> bool {
    const KINDS: &[&str] = &["Bool", "U8", "U16", "U32", "U64", "Usize", "I8", "I16", "I32", "I64", "Isize"];
    name.to_string().strip_prefix("Atomic").is_some_and(|kind| KINDS.contains(&kind))
}
