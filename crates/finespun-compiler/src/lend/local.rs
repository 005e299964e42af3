//! Rewrites the statements that may lend a local, so that they name the content of its cell.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Item, Pat, Stmt, Type, UnOp};

use super::types::{is_consumed, is_frozen, is_known, made, made_type, surely_drops, written_type};
use super::{Cell, Loans};
use crate::choose::Param;
use crate::flow::capture::Demand;
use crate::flow::methods;
use crate::kinds;
use crate::macros::{self, Arguments, Style};
use crate::names::{self, Names};
use crate::scan;

/// The constructs that call a closure for each activity: it cannot move a capture out.
const REPEATED: &[&str] = &["parfor", "join_all", "reduce", "repeat_with"];

/// A local that moves into a cell.
#[derive(Clone)]
pub(super) struct Local {
    key: Ident,
    cell: Ident,
    reference: Ident,
    ty: Option<Type>,
    /// The type is no reference.
    owned: bool,
    mutable: bool,
    /// Other locals may keep references.
    held: bool,
    /// So may they as far as names tell.
    kept: bool,
    /// The paths of fields that are `Copy`.
    copies: HashSet<String>,
    /// The methods of the type are known by its name.
    known: bool,
    /// So is that `into_` methods take it by value.
    consumed: bool,
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
    /// A closure names the local.
    captured: bool,
    /// The type must have no destructor.
    demanded: bool,
    /// The local gets its value back where rustc has to see that there are no references to it.
    moves: bool,
    refused: bool,
}

/// What replaces a local.
pub(super) struct Replaced {
    pub(super) cell: Cell,
    /// The code depends on it.
    pub(super) demand: Option<Demand>,
    /// Whether the local must be moved in the copy, where it gets its value back.
    pub(super) moves: bool,
}

impl Local {
    pub(super) fn new(key: &Ident, locals: Vec<Ident>, loans: &Loans, names: &mut Names) -> Local {
        let copies = loans.copies.iter().filter(|(of, _)| key == of.as_str()).map(|(_, path)| path.clone()).collect();
        Local {
            key: key.clone(),
            cell: names.temporary("cell"),
            reference: names.temporary("lent"),
            ty: None,
            owned: false,
            known: false,
            consumed: false,
            frozen: false,
            locals,
            mutable: false,
            held: loans.held.contains(&key.to_string()),
            kept: loans.kept.contains(&key.to_string()),
            copies,
            sure: !loans.unsure.contains(&key.to_string()),
            taken: false,
            assigned: false,
            repeated: false,
            closure: false,
            captured: false,
            demanded: false,
            moves: false,
            refused: false,
        }
    }

    /// Moves the local into a cell. Returns `None` if the local must stay.
    pub(super) fn replace(mut self, pats: &mut [Pat], params: &[Param], block: &mut Block) -> Option<Replaced> {
        let items = Items::of(block);
        match pats.iter().position(|pat| names::binders(pat).contains(&self.key)) {
            Some(index) => self.parameter(&mut pats[index], &params[index..], block),
            None => self.declared(block),
        }
        let emptied = self.taken && self.assigned;
        // The demand is checked outside of the body.
        let shadowed = self.demanded && self.ty.as_ref().is_some_and(|ty| items.names_in(ty));
        if self.refused || emptied || shadowed || (self.mutable && (self.held || self.kept)) {
            return None;
        }
        let demand = self.ty.filter(|_| self.demanded).map(|ty| Demand { ty, own: false });
        let cell = Cell { cell: self.cell, reference: self.reference, mutable: self.mutable, captured: self.captured };
        Some(Replaced { cell, demand, moves: self.moves })
    }

    /// Moves a parameter into a cell behind the exits at the body's beginning. `params` begin with this one.
    fn parameter(&mut self, pat: &mut Pat, params: &[Param], block: &mut Block) {
        self.named(pat);
        self.typed(params[0].ty.as_ref());
        // The cell is dropped before the later parameters, whose destructors may read this one.
        self.refused |= params[1..].iter().any(|later| later.kind.drops);
        let exits = |stmt: &&Stmt| matches!(stmt, Stmt::Item(_)) || is_exit(stmt) && !self.stores(stmt);
        let start = block.stmts.iter().take_while(exits).count();
        if self.from(block, start) {
            again(pat);
        }
    }

    /// Returns whether a reference to the local may be stored in another by the condition of an exit.
    fn stores(&self, exit: &Stmt) -> bool {
        struct Stores<'a>(&'a Local, bool);
        impl<'a> Visit<'a> for Stores<'_> {
            fn visit_expr_reference(&mut self, e: &'a syn::ExprReference) {
                self.1 |= self.0.names(e);
                visit::visit_expr_reference(self, e);
            }
            fn visit_expr_method_call(&mut self, e: &'a syn::ExprMethodCall) {
                // The method may store a reference to its receiver in what an argument refers to.
                self.1 |= self.0.names(&e.receiver) && !e.args.is_empty();
                visit::visit_expr_method_call(self, e);
            }
        }
        let mut stores = Stores(self, false);
        stores.visit_stmt(exit);
        stores.1
    }

    /// Looks at the pattern, which must be one name, and nothing else.
    fn named(&mut self, pat: &Pat) {
        match pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => self.mutable = p.mutability.is_some(),
            _ => self.refused = true,
        }
    }

    /// Learns the name of the type.
    fn called(&mut self, name: &Ident) {
        self.known |= is_known(name);
        self.consumed |= is_consumed(name);
        self.frozen |= is_frozen(name);
    }

    fn typed(&mut self, ty: Option<&Type>) {
        let Some(ty) = ty.filter(|ty| !kinds::has_holes(ty)) else { return };
        self.ty = Some(ty.clone());
        // Not the name of a type parameter.
        let spelled = matches!(ty, Type::Path(p) if p.path.get_ident().is_none_or(|name| name.to_string().len() > 1));
        let refers = ty.to_token_stream().to_string().contains('&');
        if let Some(name) = written_type(ty) {
            self.called(name);
            self.frozen |= kinds::is_primitive(name);
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
                if let Some(init) = &e.init {
                    made_type(&init.expr).into_iter().for_each(|name| self.0.called(name));
                    self.0.frozen |= match scan::peel(&init.expr) {
                        Expr::Lit(_) => true,
                        Expr::Macro(e) => ["vec", "format"].iter().any(|name| e.mac.path.is_ident(name)),
                        _ => false,
                    };
                }
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
        // A part that has been moved out is missing.
        let alone = self.alone(&lending[start..], behind) && !self.demanded;
        let back = (alone || (self.frozen && !self.mutable))
            && !self.held
            && !self.taken
            && behind.iter().any(|stmt| self.names(stmt));
        // Other values need not move back, unless the cell is in the way.
        let back = back && (self.frozen || !self.stays(behind));
        self.moves = back && alone;
        if !back {
            behind.iter_mut().for_each(|stmt| self.visit_stmt_mut(stmt));
        }
        let (key, cell) = (&self.key, &self.cell);
        let (reference, mutable, captured) = (self.reference.clone(), self.mutable, self.captured);
        let whole = Cell { cell: cell.clone(), reference, mutable, captured };
        let refer = whole.refer();
        let reference = &self.reference;
        if back {
            // rustc checks that the type is the one that its name tells.
            let back = Ident::new(if alone { "__taken" } else { "__taken_back" }, Span::mixed_site());
            block.stmts.insert(
                end,
                syn::parse_quote_spanned! {Span::mixed_site()=>
                    #key = unsafe { #cell.#back(&*#reference) };
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

    /// Returns whether the local may stay in its cell behind the statements that lend it.
    fn stays(&self, behind: &[Stmt]) -> bool {
        let (mut local, mut behind) = (self.clone(), behind.to_vec());
        behind.iter_mut().for_each(|stmt| local.visit_stmt_mut(stmt));
        !(local.refused || local.demanded || local.taken && local.assigned)
    }

    /// Returns whether no other local may use the local behind the statements that lend it, through a reference that it got
    /// from a callee. If a parameter may, or the local itself, rustc says so: see [`moved`](super::moved).
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
            *expr = syn::parse_quote_spanned!(site=> unsafe { #cell.__taken(&*#reference) });
            return;
        }
        if self.closure {
            // The closure may own the value and outlive the cell.
            self.refused |= self.ty.as_ref().is_none_or(surely_drops);
            *expr = syn::parse_quote_spanned!(site=> ::finespun::__rt::place(&#expr).copied_in_closure());
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
        // Of std's types, these methods take `self` by value. rustc checks that the type is std's.
        if whole && self.consumed && !self.closure && e.method.to_string().starts_with("into_") {
            self.taken = true;
            let (cell, reference) = (&self.cell, &self.reference);
            *e.receiver = syn::parse_quote_spanned!(Span::mixed_site()=> unsafe { #cell.__taken_of_std(&*#reference) });
            return;
        }
        // A closure may be called once, and take the local.
        let sure = (self.owned || self.mutable) && self.sure && !self.closure;
        let sure = sure || self.known && methods::by_reference(e);
        self.refused |= !(self.repeated || whole && sure);
        self.place(&mut e.receiver);
    }

    fn arguments(&mut self, mac: &mut syn::Macro) {
        if scan::is_join(mac)
            && let Ok(mut branches) = crate::parse::branches(mac)
        {
            branches.iter_mut().for_each(|branch| self.visit_expr_mut(branch));
            mac.tokens = branches.to_token_stream();
            return;
        }
        // `dbg!` shows its arguments' code.
        let shown = mac.path.segments.last().is_some_and(|last| last.ident == "dbg");
        let parsed = macros::parse(mac).filter(|_| (self.mutable || !macros::writes(mac)) && !shown);
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

/// The items of a body, and whether a macro may declare others.
struct Items(Vec<Item>, bool);

impl Items {
    fn of(block: &Block) -> Items {
        let mut items = Items(Vec::new(), false);
        items.visit_block(block);
        items
    }

    /// Returns whether the type may name one of them.
    fn names_in(&self, ty: &Type) -> bool {
        let declares = |name: &Ident| self.1 || self.0.iter().any(|item| scan::declares(item, name));
        macros::mentions(&ty.to_token_stream(), &declares)
    }
}

impl<'a> Visit<'a> for Items {
    fn visit_item(&mut self, item: &'a Item) {
        self.0.push(item.clone());
    }
    fn visit_stmt_macro(&mut self, e: &'a syn::StmtMacro) {
        self.1 |= macros::parse(&e.mac).is_none() && !scan::is_join(&e.mac);
    }
}

/// Returns the binder of a pattern that is one name.
pub(super) fn binder(pat: &Pat) -> Option<&syn::PatIdent> {
    match pat {
        Pat::Ident(p) => Some(p),
        Pat::Type(p) => binder(&p.pat),
        _ => None,
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
                self.captured = true;
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
                let place = self.roots(&e.left).then(|| e.left.span());
                self.compared(&mut e.left);
                enclose(&mut e.left, place);
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
            Expr::Binary(e) => {
                let place = self.roots(&e.left).then(|| e.left.span());
                self.visit_expr_mut(&mut e.left);
                enclose(&mut e.left, place);
                self.visit_expr_mut(&mut e.right);
            }
            // Blocks and operators, whose parts are values.
            Expr::Array(_)
            | Expr::Await(_)
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

/// Encloses the left operand in parentheses at `place`, where it was in the program: an operator's panic shows where its left
/// operand begins.
fn enclose(left: &mut Expr, place: Option<Span>) {
    if let Some(place) = place {
        let expr = Box::new(std::mem::replace(left, Expr::Verbatim(TokenStream::new())));
        *left = Expr::Paren(syn::ExprParen { attrs: Vec::new(), paren_token: syn::token::Paren(place), expr });
    }
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
