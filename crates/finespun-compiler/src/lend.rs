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
//! cell and written in the local. So the local is a collection or a number, or no other local is named any more.
//!
//! A reference is less than a local: nothing can be moved through it, and no `&mut` be used behind a shared one. So the
//! body stays as it is where only the type tells whether a method does either.
//!
//! To a local that is `mut`, `r` is an exclusive reference, made anew after each await: the callee's is made from it. Then no
//! other local may keep a reference into it.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Pat, Stmt, Type, UnOp};

use crate::choose::Param;
use crate::flow::capture::Demand;
use crate::flow::methods;
use crate::kinds::{self, Kind};
use crate::macros::{self, Arguments, Style};
use crate::names::{self, Names};
use crate::scan;

/// The constructs that call a closure for each activity: it cannot move a capture out.
const REPEATED: &[&str] = &["parfor", "join_all", "reduce", "repeat_with"];

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
    let locals: Vec<Ident> = names.vars.iter().map(|var| var.key.clone()).filter(|key| !given.contains(key)).collect();
    for key in &loans.lent {
        let (cell, reference) = (names.temporary("cell"), names.temporary("lent"));
        let mut local = Local {
            key: key.clone(),
            cell,
            reference,
            ty: None,
            owned: false,
            of_std: false,
            frozen: false,
            locals: locals.clone(),
            mutable: false,
            held: loans.held.contains(&key.to_string()),
            copies: loans.copies.iter().filter(|(of, _)| key == of.as_str()).map(|(_, path)| path.clone()).collect(),
            sure: !loans.unsure.contains(&key.to_string()),
            taken: false,
            assigned: false,
            repeated: false,
            closure: false,
            demanded: false,
            refused: false,
        };
        match pats.iter().position(|pat| names::binders(pat).contains(key)) {
            Some(index) => parameter(&mut local, &mut pats[index], &params[index..], block),
            None => local.declared(block),
        }
        let emptied = local.taken && local.assigned;
        if local.refused || emptied || (local.mutable && local.held) {
            return None;
        }
        if local.demanded {
            cells.demands.push(Demand { ty: local.ty?, own: false });
        }
        cells.cells.push(Cell { cell: local.cell, reference: local.reference, mutable: local.mutable });
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

/// Moves a parameter into a cell behind the exits at the body's beginning.
fn parameter(local: &mut Local, pat: &mut Pat, params: &[Param], block: &mut Block) {
    let param = &params[0];
    local.named(pat);
    local.typed(param.ty.as_ref());
    // The cell is dropped before the parameters.
    let drops = |kind: &Kind| kind.drops;
    if drops(&param.kind) && params[1..].iter().any(|later| drops(&later.kind)) {
        local.demand();
    }
    let start = block.stmts.iter().take_while(|stmt| matches!(stmt, Stmt::Item(_)) || is_exit(stmt)).count();
    if local.from(block, start) {
        again(pat);
    }
}

/// Lets a local get its value again.
fn again(pat: &mut Pat) {
    match pat {
        Pat::Ident(p) => p.mutability = Some(syn::Token![mut](Span::mixed_site())),
        Pat::Type(p) => again(&mut p.pat),
        _ => {}
    }
}

/// Returns whether a statement does nothing but return, perhaps.
fn is_exit(stmt: &Stmt) -> bool {
    let Stmt::Expr(Expr::If(e), _) = stmt else { return false };
    let returns = matches!(e.then_branch.stmts.last(), Some(Stmt::Expr(Expr::Return(_), _)));
    e.else_branch.is_none() && !scan::has_let(&e.cond) && returns && !scan::stmt_awaits(stmt)
}

/// Returns whether an expression makes a new value, which is no reference.
fn made(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Struct(_) | Expr::Array(_) | Expr::Repeat(_) | Expr::Tuple(_) | Expr::Binary(_) => true,
        Expr::Lit(e) => !matches!(e.lit, syn::Lit::Str(_) | syn::Lit::ByteStr(_)),
        Expr::Macro(e) => ["vec", "format"].iter().any(|name| e.mac.path.is_ident(name)),
        _ => maker(expr).is_some_and(|name| {
            let name = name.to_string();
            name.len() > 1 && name.starts_with(char::is_uppercase)
        }),
    }
}

/// Returns the name of the type in `Type::new(..)`.
fn maker(expr: &Expr) -> Option<&Ident> {
    let Expr::Call(call) = scan::peel(expr) else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    path.path.segments.iter().rev().nth(1).map(|segment| &segment.ident)
}

/// Returns whether a type has the name of a type of std whose methods are known.
fn is_of_std(name: &Ident) -> bool {
    is_frozen(name) || ["Mutex", "RwLock"].iter().any(|known| name == known) || name.to_string().starts_with("Atomic")
}

/// Returns whether a type has a destructor by its name.
fn surely_drops(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let name = path.path.segments.last().map(|last| &last.ident);
    name.is_some_and(|name| is_frozen(name) || ["Arc", "Rc", "Box"].iter().any(|known| name == known))
}

/// Returns whether this is a collection of std: nothing in it changes through shared references, but its elements, which
/// are elsewhere.
fn is_frozen(name: &Ident) -> bool {
    const KNOWN: &[&str] = &["Vec", "String", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "BinaryHeap"];
    KNOWN.iter().any(|known| name == known)
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
        Expr::MethodCall(e) if e.method == "taken" => scan::name(&e.receiver).map(|cell| (cell, false)),
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

/// A local that moves into a cell.
struct Local {
    key: Ident,
    cell: Ident,
    reference: Ident,
    ty: Option<Type>,
    /// The type is no reference.
    owned: bool,
    mutable: bool,
    /// Other locals may keep references.
    held: bool,
    /// The paths of fields that are `Copy`.
    copies: HashSet<String>,
    /// The type has the name of one of std's.
    of_std: bool,
    /// Nothing in the value itself changes through shared references.
    frozen: bool,
    /// All locals but parameters.
    locals: Vec<Ident>,
    /// No method can take the local by value: something names it later.
    sure: bool,
    /// The value is used by itself.
    taken: bool,
    /// The local gets a new value.
    assigned: bool,
    /// Within a closure that is called several times.
    repeated: bool,
    /// Within a closure.
    closure: bool,
    /// The type must have no destructor.
    demanded: bool,
    refused: bool,
}

impl Local {
    /// Looks at the pattern, which must be one name, and nothing else.
    fn named(&mut self, pat: &Pat) {
        match pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => self.mutable = p.mutability.is_some(),
            _ => self.refused = true,
        }
    }

    fn typed(&mut self, ty: Option<&Type>) {
        let Some(ty) = ty.filter(|ty| !kinds::has_holes(ty)) else { return };
        self.ty = Some(ty.clone());
        // Not the name of a type parameter.
        let spelled = matches!(ty, Type::Path(p) if p.path.get_ident().is_none_or(|name| name.to_string().len() > 1));
        let refers = ty.to_token_stream().to_string().contains('&');
        if let Type::Path(p) = ty
            && let Some(last) = p.path.segments.last()
        {
            self.of_std |= is_of_std(&last.ident);
            self.frozen |= is_frozen(&last.ident) || kinds::is_primitive(&last.ident);
        }
        self.owned |= (spelled || matches!(ty, Type::Array(_) | Type::Tuple(_))) && !refers;
    }

    /// Finds the declaration, and moves the local into a cell behind it.
    fn declared(&mut self, block: &mut Block) {
        struct Find<'a>(&'a mut Local, bool);
        impl VisitMut for Find<'_> {
            fn visit_block_mut(&mut self, block: &mut Block) {
                let declares = |stmt: &Stmt| match stmt {
                    Stmt::Local(e) => names::binders(&e.pat).contains(&self.0.key),
                    _ => false,
                };
                let Some(index) = block.stmts.iter().position(declares) else {
                    return visit_mut::visit_block_mut(self, block);
                };
                let Stmt::Local(e) = &block.stmts[index] else { unreachable!("the position of one") };
                let pat = match &e.pat {
                    Pat::Type(typed) => {
                        self.0.typed(Some(&typed.ty));
                        &typed.pat
                    }
                    pat => pat,
                };
                self.0.owned |= e.init.as_ref().is_some_and(|init| made(&init.expr));
                let maker = e.init.as_ref().and_then(|init| maker(&init.expr));
                self.0.of_std |= maker.is_some_and(is_of_std);
                self.0.frozen |= maker.is_some_and(is_frozen)
                    || e.init.as_ref().is_some_and(|init| match scan::peel(&init.expr) {
                        Expr::Lit(_) => true,
                        Expr::Macro(e) => ["vec", "format"].iter().any(|name| e.mac.path.is_ident(name)),
                        _ => false,
                    });
                self.0.named(pat);
                self.1 = e.init.as_ref().is_some_and(|init| init.diverge.is_none());
                if self.0.from(block, index + 1)
                    && let Stmt::Local(e) = &mut block.stmts[index]
                {
                    again(&mut e.pat);
                }
            }
            fn visit_item_mut(&mut self, _: &mut syn::Item) {}
        }
        let mut find = Find(self, false);
        find.visit_block_mut(block);
        let found = find.1;
        self.refused |= !found;
    }

    /// Moves the local into a cell before the statement at `start`, and back behind the last one that may lend it, if the
    /// cell may be read through old references as well then. Returns whether it moves back.
    fn from(&mut self, block: &mut Block, start: usize) -> bool {
        let lends = |stmt: &Stmt| scan::stmt_awaits(stmt) && self.names(stmt);
        let end = block.stmts.iter().rposition(lends).map_or(start, |last| last + 1).max(start);
        let (lending, behind) = block.stmts.split_at_mut(end);
        lending[start..].iter_mut().for_each(|stmt| self.visit_stmt_mut(stmt));
        let alone = self.frozen || self.alone(&lending[start..], behind);
        let back = alone && !self.held && !self.taken && behind.iter().any(|stmt| self.names(stmt));
        if !back {
            behind.iter_mut().for_each(|stmt| self.visit_stmt_mut(stmt));
        }
        let (key, cell) = (&self.key, &self.cell);
        let whole = Cell { cell: cell.clone(), reference: self.reference.clone(), mutable: self.mutable };
        let refer = whole.refer();
        let reference = &self.reference;
        if back {
            block.stmts.insert(
                end,
                syn::parse_quote_spanned! {Span::mixed_site()=>
                    #key = unsafe { #cell.taken(&*#reference) };
                },
            );
        }
        let lets: Block = syn::parse_quote_spanned! {Span::mixed_site()=> {
            let #cell = ::finespun::__rt::lend(#key);
            #refer
        }};
        block.stmts.splice(start..start, lets.stmts);
        back
    }

    /// Returns whether no other local may read the local behind the statements that lend it, through a reference that a
    /// callee has stored. Parameters live longer than the local, so they keep no such reference; nor do older locals with
    /// a destructor.
    fn alone(&self, lending: &[Stmt], behind: &[Stmt]) -> bool {
        struct Bound(Vec<Ident>);
        impl<'a> Visit<'a> for Bound {
            fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
                self.0.push(pat.ident.clone());
                visit::visit_pat_ident(self, pat);
            }
        }
        let mut bound = Bound(Vec::new());
        behind.iter().for_each(|stmt| bound.visit_stmt(stmt));
        let tokens: TokenStream = behind.iter().map(ToTokens::to_token_stream).collect();
        let other = |name: &&Ident| **name != self.key && !bound.0.contains(name);
        let binds = |stmt: &Stmt| matches!(stmt, Stmt::Local(e) if !names::binders(&e.pat).is_empty());
        !lending.iter().any(binds) && !self.locals.iter().filter(other).any(|name| macros::uses(&tokens, name))
    }

    fn names(&self, tokens: &impl ToTokens) -> bool {
        macros::uses(&tokens.to_token_stream(), &self.key)
    }

    /// Returns whether this is a place in the local.
    fn roots(&self, expr: &Expr) -> bool {
        scan::is_place(expr) && scan::root(expr).is_some_and(|(name, _)| *name == self.key)
    }

    /// Rewrites a place that is borrowed, compared, or looked into.
    fn place(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(_) if self.roots(expr) => {
                let reference = &self.reference;
                *expr = syn::parse_quote_spanned!(Span::mixed_site()=> (*#reference));
            }
            Expr::Field(e) => self.place(&mut e.base),
            Expr::Index(e) => {
                self.place(&mut e.expr);
                self.visit_expr_mut(&mut e.index);
            }
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.place(&mut e.expr),
            Expr::Paren(e) => self.place(&mut e.expr),
            Expr::Group(e) => self.place(&mut e.expr),
            _ => self.visit_expr_mut(expr),
        }
    }

    /// Rewrites a place in the local that is used by value.
    fn value(&mut self, expr: &mut Expr) {
        // Nothing can be moved out of an element.
        if behind_index(expr) {
            return self.place(expr);
        }
        let whole = scan::name(expr).is_some();
        if !whole && self.copies.contains(&path(expr)) {
            return self.place(expr);
        }
        self.place(expr);
        let (cell, reference, site) = (&self.cell, &self.reference, Span::mixed_site());
        if whole && !self.closure {
            self.taken = true;
            *expr = syn::parse_quote_spanned!(site=> unsafe { #cell.taken(&*#reference) });
            return;
        }
        self.demand();
        *expr = syn::parse_quote_spanned!(site=> unsafe { ::finespun::__rt::place(&#expr).copied() });
    }

    fn demand(&mut self) {
        self.demanded = true;
        self.refused |= self.ty.as_ref().is_none_or(surely_drops);
    }

    /// Rewrites a value that patterns look into.
    fn matched(&mut self, expr: &mut Expr, pats: &[&Pat]) {
        if !scan::is_place(expr) {
            return self.visit_expr_mut(expr);
        }
        // A binder may take something out.
        self.refused |= self.roots(expr) && pats.iter().any(|pat| !names::binders(pat).is_empty());
        self.place(expr);
    }

    fn compared(&mut self, expr: &mut Expr) {
        if scan::is_place(expr) { self.place(expr) } else { self.visit_expr_mut(expr) }
    }

    fn receiver(&mut self, e: &mut syn::ExprMethodCall) {
        if !self.roots(&e.receiver) {
            return self.compared(&mut e.receiver);
        }
        let whole = scan::name(&e.receiver).is_some();
        // Of std's types, these methods take `self` by value.
        if whole && self.of_std && e.method.to_string().starts_with("into_") {
            return self.value(&mut e.receiver);
        }
        // A closure may be called once, and take the local.
        let sure = (self.owned || self.mutable) && self.sure && !self.closure;
        let sure = sure || self.of_std && methods::by_reference(e);
        self.refused |= !(self.repeated || whole && sure);
        self.place(&mut e.receiver);
    }

    fn arguments(&mut self, mac: &mut syn::Macro) {
        if let Ok(mut branches) = crate::parse::branches(mac)
            && scan::is_join(mac)
        {
            branches.iter_mut().for_each(|branch| self.visit_expr_mut(branch));
            mac.tokens = branches.to_token_stream();
            return;
        }
        let parsed = macros::parse(mac).filter(|_| self.mutable || !macros::writes(mac));
        let Some((style, mut arguments)) = parsed else {
            self.refused |= self.names(&mac.tokens);
            return;
        };
        match &mut arguments {
            Arguments::List(list) => {
                self.refused |= macros::captures(mac, list).contains(&self.key);
                for argument in list.iter_mut() {
                    match style {
                        Style::Value => self.visit_expr_mut(&mut argument.expr),
                        _ => self.compared(&mut argument.expr),
                    }
                }
            }
            Arguments::Repeat(value, len) => {
                self.visit_expr_mut(value);
                self.visit_expr_mut(len);
            }
            Arguments::Matches(expr, pat, guard) => {
                self.matched(expr, &[pat]);
                guard.iter_mut().for_each(|guard| self.visit_expr_mut(guard));
            }
            Arguments::None => {}
        }
        macros::rebuild(mac, &arguments);
    }
}

/// Rewrites expressions that are used by value.
impl VisitMut for Local {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if !self.names(expr) {
            return;
        }
        if self.roots(expr) {
            return self.value(expr);
        }
        match expr {
            Expr::Reference(e) => {
                self.refused |= e.mutability.is_some() && self.roots(&e.expr) && !self.mutable;
                self.compared(&mut e.expr);
            }
            Expr::MethodCall(e) => {
                self.receiver(e);
                e.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            }
            Expr::Call(e) => {
                self.refused |= self.names(&e.func);
                let repeats = |last: &syn::PathSegment| REPEATED.iter().any(|name| last.ident == name);
                let repeats = matches!(&*e.func, Expr::Path(p) if p.path.segments.last().is_some_and(repeats));
                for arg in &mut e.args {
                    let outside = self.repeated;
                    self.repeated |= repeats && matches!(arg, Expr::Closure(_));
                    self.visit_expr_mut(arg);
                    self.repeated = outside;
                }
            }
            Expr::Closure(e) => {
                // The closure would own a reference.
                self.refused |= e.capture.is_some();
                let outside = std::mem::replace(&mut self.closure, true);
                self.visit_expr_mut(&mut e.body);
                self.closure = outside;
            }
            Expr::Match(e) => {
                let pats: Vec<&Pat> = e.arms.iter().map(|arm| &arm.pat).collect();
                self.matched(&mut e.expr, &pats);
                e.arms.iter_mut().for_each(|arm| self.visit_arm_mut(arm));
            }
            Expr::Let(e) => self.matched(&mut e.expr, &[&e.pat]),
            Expr::Binary(e) if scan::assigns(&e.op) => {
                self.refused |= self.roots(&e.left) && !self.mutable;
                self.compared(&mut e.left);
                self.visit_expr_mut(&mut e.right);
            }
            Expr::Binary(e) if compares(&e.op) => {
                self.compared(&mut e.left);
                self.compared(&mut e.right);
            }
            Expr::Assign(e) => {
                self.refused |= self.roots(&e.left) && !self.mutable;
                // Of several destinations, too.
                self.assigned |= self.names(&e.left);
                self.refused |= !scan::is_place(&e.left) && self.names(&e.left);
                self.compared(&mut e.left);
                match &*e.left {
                    Expr::Infer(_) => self.compared(&mut e.right),
                    left if !scan::is_place(left) && scan::is_place(&e.right) => {
                        self.refused |= self.roots(&e.right);
                        self.visit_expr_mut(&mut e.right);
                    }
                    _ => self.visit_expr_mut(&mut e.right),
                }
            }
            Expr::Struct(e) => {
                self.refused |= e.rest.as_ref().is_some_and(|rest| self.names(rest));
                for field in &mut e.fields {
                    if self.names(&field.expr) {
                        field.colon_token.get_or_insert_default();
                    }
                    self.visit_expr_mut(&mut field.expr);
                }
            }
            Expr::Macro(e) => self.arguments(&mut e.mac),
            Expr::Index(_) | Expr::Field(_) => self.place(expr),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.compared(&mut e.expr),
            // rustc expects a block behind an operator to have the operator's type.
            Expr::Unary(e) if self.roots(&e.expr) => self.refused = true,
            // Blocks and operators, whose parts are values.
            Expr::Array(_)
            | Expr::Await(_)
            | Expr::Binary(_)
            | Expr::Block(_)
            | Expr::Break(_)
            | Expr::Cast(_)
            | Expr::ForLoop(_)
            | Expr::Group(_)
            | Expr::If(_)
            | Expr::Loop(_)
            | Expr::Paren(_)
            | Expr::Range(_)
            | Expr::Repeat(_)
            | Expr::Return(_)
            | Expr::Try(_)
            | Expr::Tuple(_)
            | Expr::Unary(_)
            | Expr::Unsafe(_)
            | Expr::While(_) => visit_mut::visit_expr_mut(self, expr),
            _ => self.refused = true,
        }
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        let Some(init) = &mut local.init else { return };
        let pat = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pat => pat,
        };
        match pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => self.visit_expr_mut(&mut init.expr),
            pat => self.matched(&mut init.expr, &[pat]),
        }
        if let Some((_, other)) = &mut init.diverge {
            self.visit_expr_mut(other);
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        self.arguments(mac);
    }
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        // A pattern names constants only.
        self.refused |= self.names(&*pat);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Returns the path of a place below its local.
fn path(expr: &Expr) -> String {
    match scan::peel(expr) {
        Expr::Field(e) => format!("{}{}.", path(&e.base), e.member.to_token_stream()),
        Expr::Unary(e) => format!("{}*.", path(&e.expr)),
        _ => String::new(),
    }
}

/// Returns whether a place is an element, or a part of one.
fn behind_index(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Index(_) => true,
        Expr::Field(e) => behind_index(&e.base),
        Expr::Unary(e) => behind_index(&e.expr),
        _ => false,
    }
}

fn compares(op: &syn::BinOp) -> bool {
    use syn::BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
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
