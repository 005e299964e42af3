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
//! destructor; in a closure, the type must be `Copy`, since the closure may outlive the cell. A `move` closure would own the
//! reference instead of the value, so the body stays as it is.
//!
//! Behind the last statement that lends it, the local gets its value back, and rustc's rules hold again, if nothing can tell
//! the cell's old content from it: a callee may have stored a reference, through which an atomic, say, would be read in the
//! cell and written in the local. So no other local is named any more, and the local is moved at that point in the copy too:
//! rustc sees references that parameters, or the local itself, still keep. Or the local is a collection or a number that is
//! not `mut`.
//!
//! A reference is less than a local: nothing can be moved through it, and no `&mut` be used behind a shared one. So the
//! body stays as it is where only the type tells whether a method does either.
//!
//! To a local that is `mut`, `r` is an exclusive reference, from which the callees' are made. A resumed body makes `r` anew, and
//! so does one whose closures own it, after each await: no other local may keep a reference into it.

mod local;
mod types;

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Pat, Stmt};

use self::local::Local;
use crate::choose::Param;
use crate::flow::capture::Demand;
use crate::macros;
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
    let whole = block.clone();
    let given: Vec<Ident> = pats.iter().flat_map(names::binders).collect();
    for key in &loans.lent {
        // With the references to the contents of cells, which the body names now instead of these locals.
        let keys = names.vars.iter().map(|var| var.key.clone());
        let locals = keys.filter(|key| !given.contains(key)).collect();
        let replaced = Local::new(key, locals, loans, names).replace(pats, params, block)?;
        let mutable = replaced.cell.mutable;
        cells.cells.push(replaced.cell);
        cells.demands.extend(replaced.demand);
        if replaced.moves {
            cells.moves.push(Move { mutable, ..Move::of(key, names, &whole)? });
        }
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
    /// Locals of which a method, or a value of a type of unknown name, may keep references.
    pub(crate) kept: HashSet<String>,
    /// Fields whose types are `Copy`, as the body shows: the local, and the path below it with a `.` behind each name.
    pub(crate) copies: HashSet<(String, String)>,
}

/// The cells of a body.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) cells: Vec<Cell>,
    /// The code depends on these.
    pub(crate) demands: Vec<Demand>,
    pub(crate) moves: Vec<Move>,
}

/// A place where a local gets its value back, unless there are references to it.
pub(crate) struct Move {
    /// The user's name.
    name: Ident,
    /// Whether the declaration says `mut`.
    mutable: bool,
    /// The number of the block, of all in the body in order, and of the statement behind the move, counted from the end.
    block: usize,
    behind: usize,
}

impl Move {
    /// Finds the place in the `whole` body, whose names are resolved.
    fn of(key: &Ident, names: &Names, whole: &Block) -> Option<Move> {
        struct Find<'a> {
            key: &'a Ident,
            blocks: usize,
            /// The number of the block, and of the statements behind.
            found: Option<(usize, usize)>,
        }
        impl<'a> Visit<'a> for Find<'_> {
            fn visit_block(&mut self, block: &'a Block) {
                let number = self.blocks;
                self.blocks += 1;
                let declares = |stmt: &Stmt| matches!(stmt, Stmt::Local(e) if local::binder(&e.pat).is_some_and(|p| p.ident == *self.key));
                // A parameter is declared outside.
                if block.stmts.iter().any(declares) || number == 0 {
                    let lends =
                        |stmt: &Stmt| scan::stmt_awaits(stmt) && macros::uses(&stmt.to_token_stream(), self.key);
                    let behind = block.stmts.iter().rev().position(lends);
                    self.found = behind.map(|behind| (number, behind));
                }
                visit::visit_block(self, block);
            }
            fn visit_item(&mut self, _: &'a syn::Item) {}
        }
        let mut find = Find { key, blocks: 0, found: None };
        find.visit_block(whole);
        let (block, behind) = find.found?;
        let shown = &names.vars[names.find(key)?].shown;
        // `self` cannot be bound again.
        (shown != "__this").then(|| Move { name: names::named(shown, key.span()), mutable: false, block, behind })
    }
}

/// Returns the body in which locals are moved where they get their values back.
pub(crate) fn moved(block: &Block, moves: &[Move]) -> Block {
    struct Insert<'a>(&'a [Move], usize);
    impl VisitMut for Insert<'_> {
        fn visit_block_mut(&mut self, block: &mut Block) {
            let number = self.1;
            self.1 += 1;
            visit_mut::visit_block_mut(self, block);
            let mut here: Vec<_> = self.0.iter().filter(|place| place.block == number).collect();
            // From the last one on, so that the places before stay where they are.
            here.sort_by_key(|place| place.behind);
            let len = block.stmts.len();
            for Move { name, mutable, behind, .. } in here {
                // Bound again, so that rustc still knows whether it may change.
                let binding = (!mutable).then(|| quote_spanned!(Span::mixed_site()=> let));
                let stmt = quote_spanned!(Span::mixed_site()=> #binding #name = ::finespun::__rt::moved(#name););
                block.stmts.insert(len - behind, syn::parse2(stmt).expect("a statement"));
            }
        }
        fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    }
    let mut block = block.clone();
    Insert(moves, 0).visit_block_mut(&mut block);
    block
}

/// A cell, and the reference to its content. The reference stays on the stack: a frame holds cells only, so that the
/// content need not be `Sync`.
pub(crate) struct Cell {
    pub(crate) cell: Ident,
    pub(crate) reference: Ident,
    mutable: bool,
    /// A closure owns the reference, if it is exclusive.
    captured: bool,
}

impl Cell {
    /// Writes the reference to the content.
    pub(crate) fn refer(&self) -> TokenStream {
        let Cell { cell, reference, mutable, captured } = self;
        let site = Span::mixed_site();
        let renewed = captured.then(|| quote_spanned!(site=> #[allow(unused_mut, unused_assignments)]));
        let again = captured.then(|| quote_spanned!(site=> mut));
        match mutable {
            true => quote_spanned! {site=>
                #renewed
                let #again #reference = unsafe { ::finespun::__rt::lent_mut(&#cell) };
            },
            false => quote_spanned!(site=> let #reference = unsafe { ::finespun::__rt::lent(&#cell) };),
        }
    }

    /// Makes the reference anew after an await: a closure may own the one before.
    pub(crate) fn renew(&self) -> Option<TokenStream> {
        let Cell { cell, reference, mutable, captured } = self;
        (*mutable && *captured).then(|| {
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
    let Expr::Unsafe(e) = scan::peel(expr) else { return None };
    let [Stmt::Expr(inner, None)] = &e.block.stmts[..] else { return None };
    match inner {
        Expr::MethodCall(e) if ["__taken", "__taken_back", "__taken_of_std"].iter().any(|name| e.method == name) => {
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
