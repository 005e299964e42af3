//! The head of a body: leading statements that only determine whether the body has anything to do.
//!
//! `if n < 2 { return n; }`, `let Some(node) = node else { return 0 };`, the arms of a final `match` that await
//! nothing: a call that ends there is cheap. So the head becomes a function that is inlined into callers, in front of
//! the *rest*, which is not.
//!
//! An exit moves into the head altogether. A test whose other outcome binds names stays in the rest as well, so it may
//! only read places whose evaluation is unobservable.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Pat, Stmt};

use crate::kinds::{Kind, Lend};
use crate::macros;
use crate::scan;

/// A parameter as the head sees it: its binder and its kind.
pub(crate) struct Known<'a> {
    pub(crate) pat: &'a Pat,
    pub(crate) kind: &'a Kind,
}

/// Splits the head off a body whose names are resolved. `views` says whether the result borrows from a parameter.
pub(crate) fn split(params: &[Known<'_>], block: &mut Block, views: bool) -> Vec<Stmt> {
    let plain = params.iter().all(|p| matches!(p.pat, Pat::Wild(_)) || binder(p.pat).is_some());
    let items = block.stmts.iter().any(|s| matches!(s, Stmt::Item(_)));
    if !plain || items || (views && params.iter().any(|p| p.kind.lends == Lend::Mut)) {
        return Vec::new();
    }
    let mut head = Vec::new();
    while let Some(stmt) = block.stmts.first() {
        let Some(found) = leading(params, stmt, &block.stmts[1..]) else { break };
        match found {
            Leading::Exit(stmt) => {
                head.push(stmt);
                block.stmts.remove(0);
            }
            Leading::Branch(stmt, rest) => {
                head.push(stmt);
                block.stmts = match rest {
                    Expr::Block(b) if b.label.is_none() => b.block.stmts,
                    other => vec![Stmt::Expr(other, None)],
                };
                if block.stmts.iter().any(|s| matches!(s, Stmt::Item(_))) {
                    break;
                }
            }
            Leading::Test(stmt) => {
                head.push(stmt);
                break;
            }
        }
    }
    head
}

/// Returns the assumption of the rest: the last test of the head, which the rest repeats with unreachable exits. So the
/// second test costs nothing.
///
/// Applies only to tests of parameters themselves: a field access or `*` may call the user's `Deref`, which need not
/// return the same twice.
pub(crate) fn assumption(head: &[Stmt]) -> Option<Stmt> {
    let mut last = head.last()?.clone();
    let never: Expr = syn::parse_quote!({ unsafe { ::core::hint::unreachable_unchecked() } });
    match &mut last {
        Stmt::Local(local) => {
            let init = local.init.as_mut()?;
            if !by_name(&init.expr) {
                return None;
            }
            let (_, exit) = init.diverge.as_mut()?;
            **exit = never;
        }
        Stmt::Expr(Expr::Match(test), _) if by_name(&test.expr) => {
            for arm in &mut test.arms {
                if !matches!(&*arm.body, Expr::Block(b) if b.block.stmts.is_empty()) {
                    *arm.body = never.clone();
                }
            }
        }
        Stmt::Expr(Expr::If(test), _) if matches!(&*test.cond, Expr::Let(binding) if by_name(&binding.expr)) => {
            let (_, exit) = test.else_branch.as_mut()?;
            **exit = never;
        }
        _ => return None,
    }
    Some(last)
}

/// Returns whether an expression is a name, a borrow of a name, or a tuple of these and of literals.
fn by_name(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Reference(e) => by_name(&e.expr),
        Expr::Tuple(e) => e.elems.iter().all(by_name),
        _ => false,
    }
}

/// Returns the binder, if the parameter is a plain name.
pub(crate) fn binder(pat: &Pat) -> Option<&syn::PatIdent> {
    match pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => Some(p),
        _ => None,
    }
}

#[allow(clippy::large_enum_variant, reason = "one exists at a time")]
enum Leading {
    /// Moves into the head.
    Exit(Stmt),
    /// Moves into the head; the expression, the other outcome, remains as the rest.
    Branch(Stmt, Expr),
    /// Is repeated in the rest.
    Test(Stmt),
}

fn leading(params: &[Known<'_>], stmt: &Stmt, after: &[Stmt]) -> Option<Leading> {
    let tail = after.is_empty();
    match stmt {
        Stmt::Expr(expr, semi) => match scan::peel(expr) {
            Expr::If(e) => branch(params, e, after, tail && semi.is_none()),
            Expr::Match(e) => {
                let arms = if tail && semi.is_none() { ends(e, &|a| !scan::awaits(a)) } else { ends(e, &diverges) };
                test(params, e, arms)
            }
            _ => None,
        },
        Stmt::Local(local) => {
            let init = local.init.as_ref()?;
            if scan::stmt_awaits(stmt) {
                return None;
            }
            if init.diverge.is_none() {
                let Expr::Match(e) = scan::peel(&init.expr) else { return None };
                return test(params, e, ends(e, &diverges));
            }
            if !still(params, &init.expr) || guarded(&local.pat) {
                return None;
            }
            let mut local = local.clone();
            Blank.visit_pat_mut(&mut local.pat);
            Some(Leading::Test(Stmt::Local(local)))
        }
        _ => None,
    }
}

fn branch(params: &[Known<'_>], e: &syn::ExprIf, after: &[Stmt], tail: bool) -> Option<Leading> {
    if scan::awaits(&e.cond) {
        return None;
    }
    let then = &e.then_branch;
    let other = e.else_branch.as_ref().map(|(_, other)| &**other);
    let exits = !scan::block_awaits(then);
    if exits && other.is_none() && block_diverges(then) {
        let exit = Stmt::Expr(Expr::If(e.clone()), None);
        return kept(params, &e.cond, &tokens(after)).then_some(Leading::Exit(exit));
    }
    if !tail {
        return None;
    }
    match other {
        Some(other) if exits && scan::awaits(other) => {
            if !kept(params, &e.cond, &quote::quote!(#other)) {
                return None;
            }
            let exit = Expr::If(syn::ExprIf { then_branch: left(then.clone()), else_branch: None, ..e.clone() });
            Some(Leading::Branch(Stmt::Expr(exit, None), other.clone()))
        }
        _ if exits || other.is_some_and(scan::awaits) => None,
        _ => {
            let exit = left(match other {
                None => Block { stmts: Vec::new(), ..then.clone() },
                Some(Expr::Block(b)) if b.label.is_none() => b.block.clone(),
                Some(other) => Block { stmts: vec![Stmt::Expr(other.clone(), None)], ..then.clone() },
            });
            let cond = &e.cond;
            if let Expr::Let(binding) = scan::peel(cond) {
                if !still(params, &binding.expr) || guarded(&binding.pat) {
                    return None;
                }
                let mut binding = binding.clone();
                Blank.visit_pat_mut(&mut binding.pat);
                return Some(Leading::Test(syn::parse_quote!(if #binding {} else #exit)));
            }
            if scan::has_let(cond) || !kept(params, cond, &quote::quote!(#then)) {
                return None;
            }
            let rest = syn::ExprBlock { attrs: Vec::new(), label: None, block: then.clone() };
            Some(Leading::Branch(syn::parse_quote!(if !(#cond) #exit), Expr::Block(rest)))
        }
    }
}

/// Returns which arms of a `match` end the task, or `None` if only running code could distinguish them from the others.
fn ends(e: &syn::ExprMatch, end: &dyn Fn(&Expr) -> bool) -> Option<Vec<bool>> {
    let ends: Vec<bool> = e.arms.iter().map(|a| end(&a.body) && !scan::awaits(&a.body)).collect();
    let mixed = ends.contains(&true) && ends.contains(&false);
    let simple = e.arms.iter().all(|a| a.attrs.is_empty() && !guarded(&a.pat));
    (mixed && simple).then_some(ends)
}

fn test(params: &[Known<'_>], e: &syn::ExprMatch, ends: Option<Vec<bool>>) -> Option<Leading> {
    let ends = ends.filter(|_| still(params, &e.expr))?;
    let mut test = e.clone();
    for (arm, ends) in test.arms.iter_mut().zip(ends) {
        let block = if ends {
            left(Block { brace_token: Default::default(), stmts: vec![Stmt::Expr((*arm.body).clone(), None)] })
        } else {
            Blank.visit_pat_mut(&mut arm.pat);
            Block { brace_token: Default::default(), stmts: Vec::new() }
        };
        *arm.body = Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block });
    }
    Some(Leading::Test(Stmt::Expr(Expr::Match(test), None)))
}

/// Returns a block whose value is the result of the task.
fn left(mut block: Block) -> Block {
    if block_diverges(&block) {
        return block;
    }
    let value = match block.stmts.pop() {
        Some(Stmt::Expr(e, None)) => Some(e),
        Some(Stmt::Macro(m)) if m.semi_token.is_none() => {
            Some(Expr::Macro(syn::ExprMacro { attrs: m.attrs, mac: m.mac }))
        }
        Some(other) => {
            block.stmts.push(other);
            None
        }
        None => None,
    };
    match value {
        Some(e) if diverges(&e) => block.stmts.push(Stmt::Expr(e, None)),
        Some(e) => block.stmts.push(syn::parse_quote!(return #e;)),
        None => block.stmts.push(syn::parse_quote!(return;)),
    }
    block
}

/// Returns whether control never passes this expression.
fn diverges(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Return(_) => true,
        Expr::Macro(m) => macros::diverges(&m.mac),
        Expr::Block(b) => b.label.is_none() && block_diverges(&b.block),
        _ => false,
    }
}

fn block_diverges(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(e, _)) => diverges(e),
        Some(Stmt::Macro(m)) => macros::diverges(&m.mac),
        _ => false,
    }
}

/// Returns whether every parameter that `cond` mentions still has its value afterwards: the parameter has no part that
/// could be moved, or it is named again, and not as the target of an assignment.
fn kept(params: &[Known<'_>], cond: &Expr, after: &proc_macro2::TokenStream) -> bool {
    let cond = quote::quote!(#cond);
    params.iter().all(|p| {
        let Some(name) = binder(p.pat).map(|p| &p.ident) else { return true };
        let named = |tokens| macros::mentions(tokens, &|i| i == name);
        let copy = !p.kind.drops && p.kind.lends != Lend::Mut;
        copy || !named(&cond) || named(after) && !macros::assigns(after, name)
    })
}

/// Returns whether this expression may be read twice: parameters, fields behind references, borrows of these, and
/// tuples of numbers.
fn still(params: &[Known<'_>], expr: &Expr) -> bool {
    let known = |name: &Ident| params.iter().find(|p| binder(p.pat).is_some_and(|b| b.ident == *name));
    match scan::peel(expr) {
        Expr::Path(_) => scan::name(expr).is_some_and(|n| known(n).is_some()),
        Expr::Reference(e) if e.mutability.is_none() => still(params, &e.expr),
        Expr::Field(syn::ExprField { base, .. })
        | Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr: base, .. }) => {
            scan::name(base).and_then(known).is_some_and(|p| p.kind.lends != Lend::Owned)
        }
        Expr::Tuple(e) => e.elems.iter().all(|part| match scan::peel(part) {
            Expr::Lit(_) => true,
            part => scan::name(part).and_then(known).is_some_and(|p| p.kind.primitive),
        }),
        _ => false,
    }
}

fn guarded(pat: &Pat) -> bool {
    struct Guards(bool);
    impl<'a> syn::visit::Visit<'a> for Guards {
        fn visit_pat(&mut self, pat: &'a Pat) {
            self.0 |= matches!(pat, Pat::Guard(_));
            syn::visit::visit_pat(self, pat);
        }
    }
    let mut seen = Guards(false);
    syn::visit::Visit::visit_pat(&mut seen, pat);
    seen.0
}

/// Removes the binders from a pattern.
struct Blank;

impl VisitMut for Blank {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        visit_mut::visit_pat_mut(self, pat);
        let Pat::Ident(p) = pat else { return };
        if crate::names::is_constant(p) {
            return;
        }
        *pat = match p.subpat.take() {
            Some((_, sub)) => *sub,
            None => syn::parse_quote!(_),
        };
    }
    fn visit_expr_mut(&mut self, _: &mut Expr) {}
    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        if field.colon_token.is_none() {
            field.colon_token = Some(Default::default());
        }
        self.visit_pat_mut(&mut field.pat);
    }
}

fn tokens(stmts: &[Stmt]) -> proc_macro2::TokenStream {
    quote::quote!(#(#stmts)*)
}
