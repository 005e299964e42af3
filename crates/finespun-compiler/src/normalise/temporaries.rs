//! Temporaries: unnamed values that Rust keeps until the end of the statement. The stack schema does not keep them
//! across an await, so an expression that may leave one with a destructor is a reason against it.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Ident, Pat, UnOp};

use crate::flow::methods::{self, of_number};
use crate::flow::pattern::{by_ref, takes_all};
use crate::lend;
use crate::macros::{self, Arguments, Style};
use crate::scan;

/// Methods that usually take `self` by value, or whose receiver has no destructor: a call on a temporary leaves nothing
/// behind.
const CONSUMING: &[&str] = &[
    "sum",
    "product",
    "collect",
    "fold",
    "reduce",
    "try_collect",
    "try_reduce",
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
    "ok",
    "err",
    "map_err",
    "ok_or",
    "ok_or_else",
    "and_then",
    "or_else",
    "min_by_key",
    "max_by_key",
    "into",
    "into_boxed_slice",
];

/// Methods that take `self` by value where it is an iterator or a number, but may reach it through a guard, or take it
/// by reference: they leave nothing behind if the receiver has no destructor.
const LIGHT: &[&str] =
    &["iter", "take", "last", "min", "max", "count", "chars", "bytes", "lines", "windows", "chunks", "clamp"];

/// Methods that return guards: a value behind a guard is copied out, not moved.
const GUARDS: &[&str] = &["lock", "try_lock", "read", "write", "try_read", "try_write", "borrow", "borrow_mut"];

/// Methods that make iterators out of iterators.
const ADAPTORS: &[&str] = &[
    "map",
    "filter",
    "filter_map",
    "flat_map",
    "flatten",
    "enumerate",
    "zip",
    "rev",
    "chain",
    "skip",
    "step_by",
    "take_while",
    "skip_while",
    "copied",
    "cloned",
    "inspect",
    "scan",
    "peekable",
    "into_iter",
];

/// Methods whose result borrows the receiver or is a plain value: a call on this result leaves no destructor behind.
const VIEWS: &[&str] = &[
    "iter",
    "iter_mut",
    "as_slice",
    "as_str",
    "as_ref",
    "as_mut",
    "as_bytes",
    "as_deref",
    "get",
    "first",
    "chars",
    "bytes",
    "lines",
    "windows",
    "chunks",
    "chunks_mut",
    "len",
    "keys",
    "values",
    "split_at",
    "split_at_mut",
    "trim",
];

/// Returns the first temporary in a value that may have a destructor and would live on in the enclosing statement.
pub(crate) fn find(expr: &Expr) -> Option<Span> {
    match scan::peel(expr) {
        Expr::Path(_) | Expr::Lit(_) | Expr::Closure(_) | Expr::Async(_) => None,
        Expr::Macro(e) => of_macro(&e.mac),
        // The operand of an await is checked where the await is normalised.
        Expr::Await(_) => None,
        // These drop their own temporaries.
        Expr::Block(_) | Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) | Expr::Const(_) => None,
        Expr::If(_) => None,
        // What is taken out of a cell leaves nothing behind.
        Expr::Unsafe(_) if lend::source(expr).is_some() => None,
        Expr::Match(e) => left_behind(e),
        Expr::Call(e) => {
            // A called value is a temporary itself.
            let func = if scan::is_place(&e.func) { inside(&e.func) } else { Some(e.func.span()) };
            func.or_else(|| e.args.iter().find_map(find))
        }
        Expr::MethodCall(e) => {
            let among = |list: &[&str]| list.iter().any(|m| e.method == m);
            let by_value = among(CONSUMING) || among(ADAPTORS) || of_number(&e.method);
            let owned = by_value && !is_guard(&e.receiver);
            let light = among(LIGHT) && is_light(&e.receiver) && !owned_by_name(&e.receiver, &e.method);
            let consumed = owned || light || scan::known(expr).is_some();
            // A constant is a new value, a static is a place. If the method is std's, the receiver is a static or a
            // number.
            let of_std = methods::by_reference(e) || methods::view(&e.method) || methods::owned(&e.method);
            let place = scan::is_place(&e.receiver) && (!scan::is_constant(&e.receiver) || of_std);
            let view = is_view(&e.receiver) && !owned_by_name(&e.receiver, &e.method);
            let nothing_left = place || view || consumed;
            let here = if nothing_left { inside(&e.receiver) } else { Some(e.receiver.span()) };
            here.or_else(|| e.args.iter().find_map(find))
        }
        Expr::Field(e) => place(&e.base),
        Expr::Index(e) => place(&e.expr).or_else(|| find(&e.index)),
        Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => place(&e.expr),
        Expr::Unary(e) => find(&e.expr),
        Expr::Reference(e) => place(&e.expr),
        Expr::Binary(e) => match e.op {
            // `&&` and `||` drop the temporaries of their operands.
            BinOp::And(_) | BinOp::Or(_) => None,
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                compared(&e.left).or_else(|| compared(&e.right))
            }
            _ => find(&e.left).or_else(|| find(&e.right)),
        },
        Expr::Cast(e) => find(&e.expr),
        Expr::Try(e) => find(&e.expr),
        Expr::Tuple(e) => e.elems.iter().find_map(find),
        Expr::Array(e) => e.elems.iter().find_map(find),
        Expr::Struct(e) => {
            let fields = e.fields.iter().find_map(|f| find(&f.expr));
            fields.or_else(|| e.rest.as_deref().and_then(place))
        }
        Expr::Repeat(e) => find(&e.expr),
        Expr::Range(e) => {
            let start = e.start.as_deref().and_then(find);
            start.or_else(|| e.end.as_deref().and_then(find))
        }
        Expr::Assign(e) => find(&e.right).or_else(|| place(&e.left)),
        Expr::Return(e) => e.expr.as_deref().and_then(find),
        Expr::Break(e) => e.expr.as_deref().and_then(find),
        Expr::Continue(_) => None,
        Expr::Let(e) => scrutinee(&e.expr),
        other => Some(other.span()),
    }
}

/// Returns the same for the scrutinee of `match`, `if let` and `for`: its own value is bound to a local, so only
/// temporaries inside it count.
pub(crate) fn scrutinee(expr: &Expr) -> Option<Span> {
    if scan::is_place(expr) { inside(expr) } else { find(expr) }
}

/// Returns the scrutinee of a `match` that is part of an expression, if it lives until the statement ends. It does
/// unless the patterns take the whole value.
pub(crate) fn left_behind(e: &syn::ExprMatch) -> Option<Span> {
    let number = |pat: &Pat| matches!(first_case(pat), Pat::Lit(_) | Pat::Range(_));
    if let Some(span) = scrutinee(&e.expr) {
        return Some(span);
    }
    let inert = matches!(scan::peel(&e.expr), Expr::Lit(_) | Expr::Cast(_) | Expr::Reference(_));
    let none = scan::is_place(&e.expr) || inert || e.arms.iter().any(|arm| number(&arm.pat));
    // If an arm matches `Some`, a `None` in another arm is empty.
    let named = |pat: &Pat, name: &str| match first_case(pat) {
        Pat::Ident(p) => p.ident == name,
        Pat::TupleStruct(p) => p.path.is_ident(name),
        _ => false,
    };
    let option = e.arms.iter().any(|arm| named(&arm.pat, "Some"));
    fn taken(pat: &Pat, none: &dyn Fn(&Pat) -> bool) -> bool {
        match pat {
            Pat::Paren(p) => taken(&p.pat, none),
            Pat::Guard(p) => taken(&p.pat, none),
            Pat::Or(p) => p.cases.iter().all(|case| taken(case, none)),
            _ => takes_all(pat) || none(pat),
        }
    }
    if none || e.arms.iter().all(|arm| taken(&arm.pat, &|pat| option && named(pat, "None"))) {
        None
    } else {
        Some(e.expr.span())
    }
}

/// Returns the pattern itself, or the first alternative of an or-pattern.
fn first_case(pat: &Pat) -> &Pat {
    match pat {
        Pat::Paren(p) => first_case(&p.pat),
        Pat::Guard(p) => first_case(&p.pat),
        Pat::Or(p) => p.cases.first().map_or(pat, first_case),
        _ => pat,
    }
}

/// Returns the first temporary that an awaited call borrows, unless it is a constant.
pub(crate) fn lent(expr: &Expr) -> Option<Span> {
    match scan::peel(expr) {
        Expr::Call(e) => e.args.iter().find_map(extending),
        Expr::MethodCall(e) => e.args.iter().find_map(extending),
        _ => None,
    }
}

/// Returns the first temporary that a `let` keeps as long as its binders: rustc extends the lifetime of borrowed
/// temporaries.
pub(crate) fn extended(pat: &Pat, init: &Expr) -> Option<Span> {
    if by_ref(pat) && !scan::is_place(init) {
        return Some(init.span());
    }
    extending(init)
}

/// Returns the first temporary of an expression whose borrowed temporaries are kept.
pub(crate) fn extending(expr: &Expr) -> Option<Span> {
    let tail = |block: &syn::Block| match block.stmts.last() {
        Some(syn::Stmt::Expr(e, None)) => extending(e),
        _ => None,
    };
    match scan::peel(expr) {
        Expr::Reference(e) => borrowed(&e.expr),
        // `format_args!` borrows its arguments.
        Expr::Macro(e) if e.mac.path.segments.last().is_some_and(|s| s.ident == "format_args") => {
            match macros::parse(&e.mac) {
                Some((_, Arguments::List(list))) => list.iter().find_map(|a| borrowed(&a.expr)),
                _ => None,
            }
        }
        Expr::Array(e) => e.elems.iter().find_map(extending),
        Expr::Tuple(e) => e.elems.iter().find_map(extending),
        Expr::Struct(e) => e.fields.iter().find_map(|f| extending(&f.expr)),
        Expr::Cast(e) => extending(&e.expr),
        Expr::Block(e) => tail(&e.block),
        Expr::Unsafe(e) => tail(&e.block),
        Expr::If(e) => tail(&e.then_branch).or_else(|| e.else_branch.as_ref().and_then(|(_, other)| extending(other))),
        Expr::Match(e) => e.arms.iter().find_map(|arm| extending(&arm.body)),
        // The constructor of a tuple struct or variant keeps borrowed temporaries, a function does not.
        Expr::Call(e) => match &*e.func {
            Expr::Path(p)
                if p.path.segments.last().is_some_and(|s| s.ident.to_string().starts_with(char::is_uppercase)) =>
            {
                e.args.iter().find_map(extending)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the same for a borrowed expression.
fn borrowed(expr: &Expr) -> Option<Span> {
    let mut base = scan::peel(expr);
    loop {
        base = scan::peel(match base {
            Expr::Field(e) => &e.base,
            Expr::Index(e) => &e.expr,
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => &e.expr,
            _ => break,
        });
    }
    let kept = matches!(base, Expr::Path(_)) && !scan::is_unit(base);
    if kept || promoted(base) { None } else { Some(base.span()) }
}

/// Returns whether a borrow of this value is a borrow of a constant.
pub(crate) fn promoted(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Lit(_) => true,
        Expr::Unary(e) if matches!(e.op, UnOp::Neg(_)) => promoted(&e.expr),
        Expr::Array(e) => e.elems.iter().all(promoted),
        Expr::Tuple(e) => e.elems.iter().all(promoted),
        Expr::Repeat(e) => promoted(&e.expr),
        Expr::Reference(e) => e.mutability.is_none() && promoted(&e.expr),
        _ => false,
    }
}

/// Returns the first temporary that a place keeps: its base, if the base is a value.
fn place(expr: &Expr) -> Option<Span> {
    match scan::peel(expr) {
        Expr::Path(_) => None,
        Expr::Field(e) => place(&e.base),
        Expr::Index(e) => place(&e.expr).or_else(|| find(&e.index)),
        Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => place(&e.expr),
        Expr::Lit(_) => None,
        // For elements made elsewhere, rustc checks whether the array has a destructor.
        Expr::Array(e) => e.elems.iter().find_map(|element| match scan::peel(element) {
            Expr::Lit(_) | Expr::Cast(_) | Expr::Reference(_) | Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => {
                find(element)
            }
            Expr::Unary(_) | Expr::Binary(_) => find(element),
            Expr::Array(_) => place(element),
            other => Some(other.span()),
        }),
        Expr::Reference(e) => place(&e.expr),
        Expr::MethodCall(e) if is_view(expr) => inside(&e.receiver),
        other => Some(other.span()),
    }
}

fn inside(expr: &Expr) -> Option<Span> {
    if scan::is_place(expr) { place(expr) } else { find(expr) }
}

fn compared(expr: &Expr) -> Option<Span> {
    match scan::peel(expr) {
        Expr::Lit(_) | Expr::Cast(_) | Expr::Unary(_) => find(expr),
        Expr::Binary(_) => find(expr),
        Expr::MethodCall(_) if is_view(expr) => find(expr),
        _ => place(expr),
    }
}

/// Returns whether this is a view of a place, a range, a number, or an iterator made of these.
fn is_light(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Range(_) | Expr::Lit(_) | Expr::Reference(_) => true,
        // The library's constructs are built step by step.
        Expr::Call(e) => matches!(&*e.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| {
            ["parfor", "lparfor"].iter().any(|name| s.ident == name)
        })),
        Expr::MethodCall(e) => {
            let known = e.method == "take" || VIEWS.iter().chain(ADAPTORS).any(|m| e.method == m);
            known && (scan::is_place(&e.receiver) || is_light(&e.receiver))
        }
        _ => false,
    }
}

/// Returns whether the name of the method called on another method's result shows that the result is neither an
/// iterator nor a view, but an owned collection or option.
fn owned_by_name(receiver: &Expr, method: &Ident) -> bool {
    const OF_SLICES: &[&str] = &["iter", "chars", "bytes", "lines", "windows", "chunks"];
    let Expr::MethodCall(e) = scan::peel(receiver) else { return false };
    let iterates = ADAPTORS.iter().chain(OF_SLICES).chain(&["keys", "values"]).any(|name| e.method == name);
    OF_SLICES.iter().any(|name| method == name) && (iterates || (e.method == "take" && e.args.is_empty()))
}

/// Returns whether this calls a method whose result has no destructor, on a place or on another such call.
fn is_view(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::MethodCall(e) => {
            VIEWS.iter().any(|m| e.method == m) && (scan::is_place(&e.receiver) || is_view(&e.receiver))
        }
        Expr::Range(_) | Expr::Lit(_) | Expr::Reference(_) => true,
        _ => false,
    }
}

/// Returns whether this may be a guard, by the name of the method that returns it.
fn is_guard(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::MethodCall(e) => {
            let through = ["unwrap", "expect", "unwrap_or_else"].iter().any(|name| e.method == name);
            GUARDS.iter().any(|m| e.method == m) && e.args.is_empty() || (through && is_guard(&e.receiver))
        }
        Expr::Try(e) => is_guard(&e.expr),
        Expr::Await(e) => is_guard(&e.base),
        _ => false,
    }
}

/// Returns the first temporary among the arguments of a macro that lives until the enclosing statement ends. Formatting
/// macros drop their own temporaries.
fn of_macro(mac: &syn::Macro) -> Option<Span> {
    let (style, arguments) = macros::parse(mac)?;
    match &arguments {
        Arguments::Matches(expr, ..) => Some(expr.span()).filter(|_| !scan::is_place(expr)).or_else(|| inside(expr)),
        Arguments::Repeat(value, len) => find(value).or_else(|| find(len)),
        Arguments::List(list) if style == Style::Value => list.iter().find_map(|argument| find(&argument.expr)),
        Arguments::List(list) if macros::writes(mac) => {
            list.iter().find_map(|argument| inside(&argument.expr).or_else(|| written(&argument.expr)))
        }
        Arguments::List(_) | Arguments::None => None,
    }
}

/// Returns a value that a macro borrows until the statement ends.
fn written(expr: &Expr) -> Option<Span> {
    let plain = scan::is_place(expr) || matches!(scan::peel(expr), Expr::Lit(_) | Expr::Cast(_) | Expr::Reference(_));
    (!plain).then(|| expr.span())
}
