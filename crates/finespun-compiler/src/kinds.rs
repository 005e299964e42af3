//! Knowledge about a local without types: whether its drop may run code, and whether borrowing from it borrows the
//! local itself.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type};

/// The lender of a borrow of a local.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Lend {
    /// The local itself.
    Owned,
    /// The local's referent, shared.
    Shared,
    /// The local's referent, exclusively.
    Mut,
}

/// The known properties of a value.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// May dropping it run code?
    pub(crate) drops: bool,
    pub(crate) lends: Lend,
    /// A number, `bool` or `char`, or a range or tuple of such.
    pub(crate) primitive: bool,
    /// `drops` is false by a guess, from the name of a method: rustc checks the guess.
    pub(crate) guess: bool,
    /// An object's or array's name: a closure that uses it borrows the local, and not only what it names.
    pub(crate) name: bool,
    /// An iterator of pairs of a number and another value.
    pub(crate) counted: bool,
    /// A closure, or a value built around one: its type is new at every place where the expression is written.
    pub(crate) closure: bool,
    /// The locals that the value borrows from; `true` means the local itself, `false` its referent.
    pub(crate) from: BTreeSet<(usize, bool)>,
    /// The local that a `ref` binder of this value borrows from, if the value is in a local.
    pub(crate) place: Option<(usize, bool)>,
}

impl Kind {
    /// Returns the kind of a value without known properties.
    pub(crate) fn unknown() -> Kind {
        Kind {
            drops: true,
            lends: Lend::Owned,
            primitive: false,
            guess: false,
            name: false,
            counted: false,
            closure: false,
            from: BTreeSet::new(),
            place: None,
        }
    }

    pub(crate) fn primitive() -> Kind {
        Kind { drops: false, primitive: true, ..Kind::unknown() }
    }

    /// Returns the kind of a number, by the name of a method.
    pub(crate) fn guessed() -> Kind {
        Kind { guess: true, ..Kind::primitive() }
    }

    /// Returns the kind of a `Copy` value of unknown type.
    pub(crate) fn copy() -> Kind {
        Kind { drops: false, ..Kind::unknown() }
    }

    pub(crate) fn reference(lends: Lend) -> Kind {
        Kind { drops: false, lends, ..Kind::unknown() }
    }

    /// Returns the kind of the items of an iterator over a value of this kind.
    pub(crate) fn element(&self) -> Kind {
        let reference = !self.drops && self.lends != Lend::Owned && !self.primitive;
        let kind = match reference {
            true => Kind { guess: true, ..Kind::reference(self.lends) },
            // A value without a destructor may yield items with one.
            false => Kind { drops: self.drops || !self.primitive, ..self.clone() },
        };
        Kind { closure: false, from: self.from.clone(), counted: self.counted, ..kind }
    }

    pub(crate) fn borrowing(mut self, from: impl IntoIterator<Item = (usize, bool)>) -> Kind {
        self.from.extend(from);
        self
    }
}

const PRIMITIVES: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "bool",
    "char",
];

/// Returns the kind that a type annotation implies.
pub(crate) fn of_type(ty: &Type) -> Option<Kind> {
    Some(match ty {
        Type::Reference(r) if r.mutability.is_some() => Kind::reference(Lend::Mut),
        Type::Reference(_) => Kind::reference(Lend::Shared),
        Type::Ptr(_) | Type::FnPtr(_) | Type::Never(_) => Kind::copy(),
        Type::Paren(p) => return of_type(&p.elem),
        Type::Group(g) => return of_type(&g.elem),
        Type::Array(a) => Kind { primitive: false, ..all(std::iter::once(&*a.elem)) },
        Type::Tuple(t) if t.elems.is_empty() => Kind::primitive(),
        Type::Tuple(t) => all(t.elems.iter()),
        Type::Path(p) if p.qself.is_none() => {
            let last = p.path.segments.last()?;
            if p.path.segments.len() == 1 && PRIMITIVES.iter().any(|n| last.ident == n) {
                return Some(Kind::primitive());
            }
            let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
            let wraps = ["Option", "Range", "RangeInclusive"].iter().any(|n| last.ident == n);
            match args.args.first() {
                Some(GenericArgument::Type(_)) if is_name(ty) => Kind { name: true, ..Kind::reference(Lend::Shared) },
                // Unlike a number, the wrapper is borrowed by its methods.
                Some(GenericArgument::Type(inner)) if wraps => Kind {
                    guess: true,
                    primitive: last.ident != "Option" && of_type(inner)?.primitive,
                    ..of_type(inner)?
                },
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Returns whether this is a `Ref<T>`, an `IArray<T>` or an `MArray<T>`, the name of an object or an array. The name is
/// `Copy` and borrows nothing. A user-defined type of the same name with a destructor is reported as an error: see
/// `choose::names`.
pub(crate) fn is_name(ty: &Type) -> bool {
    let Type::Path(p) = ty else { return false };
    let Some(last) = p.path.segments.last().filter(|_| p.qself.is_none() && p.path.segments.len() == 1) else {
        return false;
    };
    let PathArguments::AngleBracketed(args) = &last.arguments else { return false };
    let known = !crate::macros::mentions(&args.to_token_stream(), &|name| name == "_");
    let named = ["Ref", "IArray", "MArray"].iter().any(|name| last.ident == name);
    known && named && args.args.len() == 1 && matches!(args.args[0], GenericArgument::Type(_))
}

/// Returns whether the text of a type shows that its values travel in registers.
pub(crate) fn scalar(ty: &Type) -> bool {
    match ty {
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) => true,
        Type::Paren(p) => scalar(&p.elem),
        Type::Group(g) => scalar(&g.elem),
        Type::Tuple(t) => t.elems.is_empty(),
        Type::Path(p) if p.qself.is_none() => p.path.segments.last().is_some_and(|last| match &last.arguments {
            PathArguments::None => p.path.segments.len() == 1 && PRIMITIVES.iter().any(|n| last.ident == n),
            PathArguments::AngleBracketed(args) => {
                let inner = args.args.first();
                last.ident == "Option" && matches!(inner, Some(GenericArgument::Type(Type::Reference(_))))
            }
            PathArguments::Parenthesized(_) => false,
        }),
        _ => false,
    }
}

/// Returns the kind of a type with these parts.
fn all<'a>(parts: impl Iterator<Item = &'a Type>) -> Kind {
    let mut whole = Kind::primitive();
    for part in parts {
        match of_type(part) {
            Some(kind) => {
                whole.drops |= kind.drops;
                whole.primitive &= kind.primitive;
                whole.guess |= kind.guess;
                // If one of several parts is `&mut`, the whole is not copied.
                if kind.lends != Lend::Owned && whole.lends != Lend::Mut {
                    whole.lends = kind.lends;
                }
            }
            None => (whole.drops, whole.primitive) = (true, false),
        }
    }
    whole
}

/// Types of std with a lifetime parameter, which may be elided where they are written.
const BORROWING: &[&str] = &[
    "Arguments",
    "Bytes",
    "CharIndices",
    "Chars",
    "Chunks",
    "ChunksExact",
    "ChunksMut",
    "Cow",
    "Drain",
    "Formatter",
    "Iter",
    "IterMut",
    "Keys",
    "Lines",
    "Matches",
    "MutexGuard",
    "OccupiedEntry",
    "PeekMut",
    "RSplit",
    "RefMut",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Split",
    "SplitAsciiWhitespace",
    "SplitInclusive",
    "SplitN",
    "SplitWhitespace",
    "VacantEntry",
    "Values",
    "ValuesMut",
    "Windows",
];

/// Returns whether a type borrows nothing: no reference, no lifetime, and none of the generic parameters, which may
/// contain either.
pub(crate) fn owns_all(ty: &Type, generics: &[syn::Ident]) -> bool {
    struct Look<'a>(&'a [syn::Ident], bool);
    impl<'a> syn::visit::Visit<'a> for Look<'_> {
        fn visit_type_reference(&mut self, _: &'a syn::TypeReference) {
            self.1 = false;
        }
        fn visit_lifetime(&mut self, lifetime: &'a syn::Lifetime) {
            self.1 &= lifetime.ident == "static";
        }
        fn visit_type_impl_trait(&mut self, _: &'a syn::TypeImplTrait) {
            self.1 = false;
        }
        fn visit_type_trait_object(&mut self, _: &'a syn::TypeTraitObject) {
            self.1 = false;
        }
        fn visit_type_infer(&mut self, _: &'a syn::TypeInfer) {
            self.1 = false;
        }
        fn visit_ident(&mut self, ident: &'a syn::Ident) {
            self.1 &= ident != "Self" && !self.0.contains(ident);
        }
        fn visit_path_segment(&mut self, segment: &'a syn::PathSegment) {
            self.1 &= !BORROWING.iter().any(|name| segment.ident == name);
            syn::visit::visit_path_segment(self, segment);
        }
    }
    let mut look = Look(generics, true);
    syn::visit::Visit::visit_type(&mut look, ty);
    look.1
}

/// Returns whether a type that [`owns_all`] is made of std's only: any other may have a lifetime that is not written.
pub(crate) fn is_of_std(ty: &Type) -> bool {
    struct Look(bool);
    impl<'a> syn::visit::Visit<'a> for Look {
        fn visit_path_segment(&mut self, segment: &'a syn::PathSegment) {
            let name = &segment.ident;
            let wraps = ["Option", "Result", "Poll", "ControlFlow"].iter().any(|known| name == known);
            self.0 &= wraps || is_primitive(name) || MOVED.iter().any(|known| name == known);
            syn::visit::visit_path_segment(self, segment);
        }
    }
    let mut look = Look(true);
    syn::visit::Visit::visit_type(&mut look, ty);
    look.0
}

/// Types of std whose values move.
const MOVED: &[&str] = &[
    "String",
    "Box",
    "Vec",
    "VecDeque",
    "HashMap",
    "HashSet",
    "BTreeMap",
    "BTreeSet",
    "LinkedList",
    "BinaryHeap",
    "Arc",
    "Rc",
    "Cell",
    "RefCell",
    "Mutex",
    "RwLock",
    "File",
    "Sender",
    "Receiver",
    "PathBuf",
    "OsString",
];

/// Returns whether this type's values may be copied.
pub(crate) fn may_be_copied(ty: &Type, generics: &[syn::Ident]) -> bool {
    let inner = |args: &PathArguments| match args {
        PathArguments::AngleBracketed(args) => args.args.iter().all(|arg| match arg {
            GenericArgument::Type(ty) => may_be_copied(ty, generics),
            _ => true,
        }),
        _ => true,
    };
    match ty {
        Type::Paren(p) => may_be_copied(&p.elem, generics),
        Type::Group(g) => may_be_copied(&g.elem, generics),
        Type::Array(a) => may_be_copied(&a.elem, generics),
        Type::Tuple(t) => t.elems.iter().all(|part| may_be_copied(part, generics)),
        Type::Reference(r) => r.mutability.is_none(),
        Type::ImplTrait(_) | Type::TraitObject(_) | Type::Slice(_) => false,
        Type::Path(p) => p.path.segments.last().is_some_and(|last| {
            let wraps = ["Option", "Result", "Poll", "ControlFlow"].iter().any(|name| last.ident == name);
            let moved = MOVED.iter().any(|name| last.ident == name);
            let own = p.path.get_ident().is_some_and(|name| generics.contains(name));
            !moved && !own && (!wraps || inner(&last.arguments))
        }),
        _ => true,
    }
}

/// Returns whether iterating over a reference to this type yields references to its elements.
pub(crate) fn is_collection(ty: &Type) -> bool {
    match ty {
        Type::Slice(_) | Type::Array(_) => true,
        Type::Paren(p) => is_collection(&p.elem),
        Type::Group(g) => is_collection(&g.elem),
        Type::Path(p) => p.path.segments.last().is_some_and(|last| {
            ["Vec", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "Option", "LinkedList", "BinaryHeap"]
                .iter()
                .any(|name| last.ident == name)
        }),
        _ => false,
    }
}

/// Returns whether a part of the type is inferred.
pub(crate) fn has_holes(ty: &Type) -> bool {
    crate::macros::mentions(&ty.to_token_stream(), &|name| name == "_")
}

/// Returns whether this is the name of a primitive type.
pub(crate) fn is_primitive(name: &syn::Ident) -> bool {
    PRIMITIVES.iter().any(|n| name == n)
}
