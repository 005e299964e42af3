//! Lends locals from cells.
//!
//! A callee that has borrowed a local of a task would be left with a dangling reference when the task leaves the stack. So
//! where a loan is the only reason against the stack schema, the local moves into a cell before the first statement that
//! may lend it, and the statements from there on name the cell's content:
//!
//! ```text
//! let best = AtomicI32::new(0);
//!                                          let cell = lend(best); let r = unsafe { lent(&cell) };
//! parfor(0..7, |c| column(c, &best)).await parfor(0..7, |c| column(c, &(*r))).await
//! best.load(Relaxed)                       (*r).load(Relaxed)
//! ```
//!
//! `r` is a reference without a lifetime (`unsafe`, in the library), so callees, results and other locals may keep what
//! they borrow through it. That they keep it no longer than the local lives is checked by rustc on a copy of the body that
//! is never called, in which the local is a plain one.
//!
//! A value that the body uses by itself is read out of the cell, which notes that it is empty if the type has a
//! destructor; in a closure, the type must have none. A `move` closure would own the reference instead of the value, so the
//! body stays as it is.
//!
//! Behind the last statement that lends it, the local gets its value back, and rustc's rules hold again, if nothing can tell
//! the cell's old content from it: a callee may have stored a reference, through which an atomic, say, would be read in the
//! cell and written in the local. So no other local is named any more, or the local is a collection or a number that is not
//! `mut`.
//!
//! A reference is less than a local: nothing can be moved through it, and no `&mut` be used behind a shared one. So the
//! body stays as it is where only the type tells whether a method does either.
//!
//! To a local that is `mut`, `r` is an exclusive reference, made anew after each await: the callee's is made from it. Then no
//! other local may keep a reference into it.

mod local;
mod types;

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Block, Expr, Ident, Pat, Stmt};

use self::local::Local;
use crate::choose::Param;
use crate::flow::capture::Demand;
use crate::names::{self, Names};
use crate::scan;

/// Moves locals of a body, whose names are resolved, into cells. Returns `None` if some local must stay.
pub(crate) fn replace(
    pats: &mut [Pat],
    params: &[Param],
    block: &mut Block,
    loans: &Loans,
    names: &mut Names,
) -> Option<Cells> {
    let mut cells = Cells::default();
    let given: Vec<Ident> = pats.iter().flat_map(names::binders).collect();
    for key in &loans.lent {
        // With the references to the contents of cells, which the body names now instead of these locals.
        let keys = names.vars.iter().map(|var| var.key.clone());
        let locals = keys.filter(|key| !given.contains(key)).collect();
        let (cell, demand) = Local::new(key, locals, loans, names).replace(pats, params, block)?;
        cells.cells.push(cell);
        cells.demands.extend(demand);
    }
    Some(cells)
}

/// The locals of a body that move into cells.
#[derive(Default)]
pub(crate) struct Loans {
    pub(crate) lent: Vec<Ident>,
    /// Locals that a method of unknown name may take, as far as the flow tells.
    pub(crate) unsure: HashSet<String>,
    /// Locals of which other locals may keep references.
    pub(crate) held: HashSet<String>,
    /// Fields whose types are `Copy`, as the body shows: the local, and the path below it with a `.` behind each name.
    pub(crate) copies: HashSet<(String, String)>,
}

/// The cells of a body.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) cells: Vec<Cell>,
    /// The code depends on these.
    pub(crate) demands: Vec<Demand>,
}

/// A cell, and the reference to its content. The reference stays on the stack: a frame holds cells only, so that the
/// content need not be `Sync`.
pub(crate) struct Cell {
    pub(crate) cell: Ident,
    pub(crate) reference: Ident,
    mutable: bool,
}

impl Cell {
    /// Writes the reference to the content.
    pub(crate) fn refer(&self) -> TokenStream {
        let Cell { cell, reference, mutable } = self;
        let site = Span::mixed_site();
        match mutable {
            true => quote_spanned! {site=>
                #[allow(unused_mut, unused_assignments)]
                let mut #reference = unsafe { ::finespun::__rt::lent_mut(&#cell) };
            },
            false => quote_spanned!(site=> let #reference = unsafe { ::finespun::__rt::lent(&#cell) };),
        }
    }

    /// Makes the reference anew after an await.
    pub(crate) fn renew(&self) -> Option<TokenStream> {
        let Cell { cell, reference, mutable } = self;
        mutable.then(|| {
            quote_spanned! {Span::mixed_site()=>
                #[allow(unused_assignments)]
                { #reference = unsafe { ::finespun::__rt::lent_mut(&#cell) }; }
            }
        })
    }
}

/// Returns the local that this generated expression takes something from: a cell, or a reference to one's content.
/// `true` if the result is a reference.
pub(crate) fn source(expr: &Expr) -> Option<(&Ident, bool)> {
    /// Returns the name and the first argument of a call of the library.
    fn call(expr: &Expr) -> Option<(&Ident, &Expr)> {
        let Expr::Call(call) = expr else { return None };
        let Expr::Path(path) = &*call.func else { return None };
        let segments = &path.path.segments;
        let (Some(Expr::Reference(argument)), 3) = (call.args.first(), segments.len()) else { return None };
        (segments[1].ident == "__rt").then_some((&segments[2].ident, &argument.expr))
    }
    let Expr::Unsafe(e) = expr else { return None };
    let [Stmt::Expr(inner, None)] = &e.block.stmts[..] else { return None };
    match inner {
        Expr::MethodCall(e) if ["taken", "taken_back", "taken_of_std"].iter().any(|name| e.method == name) => {
            scan::name(&e.receiver).map(|cell| (cell, false))
        }
        Expr::MethodCall(e) if e.method == "copied" => {
            let (_, place) = call(&e.receiver).filter(|(name, _)| *name == "place")?;
            Some((scan::root(place)?.0, false))
        }
        _ => {
            let (_, cell) = call(inner).filter(|(name, _)| *name == "lent" || *name == "lent_mut")?;
            scan::name(cell).map(|cell| (cell, true))
        }
    }
}

/// Writes the copy of a body on which rustc checks the loans, and what is unused.
pub(crate) fn checked(whole: &TokenStream) -> TokenStream {
    let site = Span::mixed_site();
    quote_spanned! {site=>
        #[allow(unreachable_code, unused_must_use, clippy::all, clippy::pedantic, clippy::restriction)]
        if false {
            ::core::mem::drop(#whole);
            loop {}
        }
    }
}
