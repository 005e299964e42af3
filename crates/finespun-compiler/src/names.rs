//! Resolution and renaming: afterwards every binder of the body has a unique name (its *key*), so that later passes may
//! look names up in a plain map.
//!
//! Locals pass from the stack code to the resumable code by name. Where an inner `x` shadows an outer one, both may be
//! live, so the inner one keeps its new name (`x_1`). Binders that shadow nothing get their own name back when the code
//! is written ([`Names::restore`]).

use std::collections::{HashMap, HashSet};

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Item, Macro, Pat, Stmt};

use crate::macros;
use crate::reasons::Reasons;

/// One binder.
pub(crate) struct Var {
    /// The unique name, with the span of the user's binder.
    pub(crate) key: Ident,
    /// The user's name.
    pub(crate) shown: String,
    /// Whether another binder of the same name is in scope at the declaration.
    shadows: bool,
    /// The compiler made this local.
    pub(crate) made: bool,
}

impl Var {
    /// Returns whether this is the iterator of a `for` loop.
    pub(crate) fn iterates(&self) -> bool {
        self.made && self.shown.strip_prefix("__it").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    }
}

/// Every binder of a body.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) vars: Vec<Var>,
    keys: HashMap<String, usize>,
    taken: HashSet<String>,
    scopes: Vec<Vec<(String, usize)>>,
    temporaries: usize,
}

/// Makes a name from its text, which may be raw (`r#type`).
pub(crate) fn named(text: &str, span: Span) -> Ident {
    match text.strip_prefix("r#") {
        Some(name) => Ident::new_raw(name, span),
        None => Ident::new(text, span),
    }
}

impl Names {
    /// Resolves the parameters and the body, renaming in place.
    pub(crate) fn resolve(params: &mut [Pat], body: &mut Block, reasons: &mut Reasons) -> Names {
        let mut names = Names::default();
        let mut all = Idents(&mut names.taken);
        params.iter().for_each(|p| all.visit_pat(p));
        all.visit_block(body);
        names.scopes.push(Vec::new());
        let mut values = Values(HashSet::new());
        values.visit_block(body);
        let mut namer = Namer { names: &mut names, reasons, values: values.0, free: HashSet::new() };
        for pat in params {
            namer.bind(pat, false);
        }
        namer.visit_block_mut(body);
        let free = namer.free;
        for var in names.vars.iter().filter(|var| free.contains(&var.shown)) {
            ambiguous(&var.shown, var.key.span(), reasons);
        }
        names
    }

    /// Returns the binder with this key.
    pub(crate) fn find(&self, key: &Ident) -> Option<usize> {
        self.keys.get(&key.to_string()).copied()
    }

    /// Makes a new local of the compiler's own.
    pub(crate) fn temporary(&mut self, stem: &str) -> Ident {
        self.temporaries += 1;
        let mut text = format!("__{stem}{}", self.temporaries - 1);
        while self.keys.contains_key(&text) || self.taken.contains(&text) {
            text.push('_');
        }
        let key = Ident::new(&text, Span::mixed_site());
        self.keys.insert(text.clone(), self.vars.len());
        self.vars.push(Var { key: key.clone(), shown: text, shadows: true, made: true });
        key
    }

    /// Gives binders that shadow nothing their own name back.
    pub(crate) fn restore(&self, tokens: TokenStream) -> TokenStream {
        macros::substitute(tokens, &|ident| {
            let var = &self.vars[self.find(ident)?];
            (!var.shadows && *ident != var.shown.as_str()).then(|| named(&var.shown, ident.span()))
        })
    }

    fn declare(&mut self, ident: &Ident) -> Ident {
        let shown = ident.to_string();
        let shadows = self.look_up(&shown).is_some();
        let mut text = shown.clone();
        let mut n = 0;
        while self.keys.contains_key(&text) || (n > 0 && self.taken.contains(&text)) {
            n += 1;
            text = format!("{}_{n}", shown.trim_start_matches("r#"));
        }
        let key = if n == 0 { ident.clone() } else { Ident::new(&text, ident.span()) };
        self.keys.insert(text, self.vars.len());
        self.scopes.last_mut().expect("a scope").push((shown.clone(), self.vars.len()));
        self.vars.push(Var { key: key.clone(), shown, shadows, made: false });
        key
    }

    fn look_up(&self, shown: &str) -> Option<usize> {
        let mut all = self.scopes.iter().rev().flat_map(|s| s.iter().rev());
        all.find(|(n, _)| n == shown).map(|(_, v)| *v)
    }
}

/// Returns the names that a pattern binds.
pub(crate) fn binders(pat: &Pat) -> Vec<Ident> {
    struct Binders(Vec<Ident>);
    impl<'a> Visit<'a> for Binders {
        fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
            self.0.push(pat.ident.clone());
        }
    }
    let mut binders = Binders(Vec::new());
    binders.visit_pat(pat);
    binders.0
}

/// Returns whether this identifier pattern may be a constant or a unit variant.
pub(crate) fn is_constant(pat: &syn::PatIdent) -> bool {
    pat.by_ref.is_none()
        && pat.mutability.is_none()
        && pat.subpat.is_none()
        && pat.ident.to_string().starts_with(char::is_uppercase)
}

struct Idents<'a>(&'a mut HashSet<String>);

impl<'a> Visit<'a> for Idents<'_> {
    fn visit_ident(&mut self, ident: &'a Ident) {
        self.0.insert(ident.to_string());
    }
    fn visit_macro(&mut self, mac: &'a Macro) {
        self.0.extend(macros::idents(&mac.tokens).iter().map(Ident::to_string));
    }
}

/// The names that a body uses as values, and all names inside macros.
struct Values(HashSet<String>);

impl<'a> Visit<'a> for Values {
    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        if let Some(name) = path.path.get_ident() {
            self.0.insert(name.to_string());
        }
    }
    fn visit_macro(&mut self, mac: &'a Macro) {
        Idents(&mut self.0).visit_macro(mac);
        macros::literals(&mac.tokens, &mut |text| self.0.extend(macros::inline_names(text)));
    }
}

struct Namer<'a> {
    names: &'a mut Names,
    reasons: &'a mut Reasons,
    values: HashSet<String>,
    /// The names of values, not called, that are not locals of the body.
    free: HashSet<String>,
}

/// Returns the macro expansion that a name belongs to, if it is visible: hygiene distinguishes a macro's `x` from its
/// caller's `x`.
fn context(span: Span) -> Option<String> {
    let shown = format!("{span:?}");
    let number = shown.strip_prefix('#')?.split(' ').next()?;
    Some(number.to_owned())
}

/// Adds a reason: only rustc can distinguish a constant from a local in a pattern.
fn ambiguous(shown: &str, span: Span, reasons: &mut Reasons) {
    let cure = "give the local a name that no constant has, in lower case";
    reasons.add(span, format!("`{shown}` may be a local or a constant"), cure);
}

impl Namer<'_> {
    fn scoped<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        self.names.scopes.push(Vec::new());
        let result = run(self);
        self.names.scopes.pop();
        result
    }

    /// Declares the binders of a pattern (and resolves its guard).
    fn bind(&mut self, pat: &mut Pat, refutable: bool) {
        let mut binder = Binder { namer: self, refutable, seen: HashMap::new() };
        binder.visit_pat_mut(pat);
    }
}

/// Walks one pattern; the alternatives of an or-pattern bind the same names.
struct Binder<'a, 'b> {
    namer: &'a mut Namer<'b>,
    /// The pattern may contain constants.
    refutable: bool,
    seen: HashMap<String, Ident>,
}

impl VisitMut for Binder<'_, '_> {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        match pat {
            Pat::Guard(g) => {
                self.visit_pat_mut(&mut g.pat);
                self.namer.visit_expr_mut(&mut g.guard);
            }
            Pat::Macro(m) => self.namer.reasons.add(
                m.mac.path.segments[0].ident.span(),
                "a macro stands in a pattern",
                "write the pattern out",
            ),
            _ => visit_mut::visit_pat_mut(self, pat),
        }
    }
    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        if is_constant(pat) {
            // A `let` binds no constant, but `let UNIT = ..` may be a unit struct.
            let shown = pat.ident.to_string();
            if !self.refutable || (shown != "None" && self.namer.values.contains(&shown)) {
                ambiguous(&shown, pat.ident.span(), self.namer.reasons);
            }
        } else {
            let shown = pat.ident.to_string();
            let key = match self.seen.get(&shown) {
                Some(key) => named(&key.to_string(), pat.ident.span()),
                None => self.namer.names.declare(&pat.ident),
            };
            self.seen.insert(shown, key.clone());
            pat.ident = key;
        }
        if let Some((_, sub)) = &mut pat.subpat {
            self.visit_pat_mut(sub);
        }
    }
    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        visit_mut::visit_field_pat_mut(self, field);
        if field.colon_token.is_none()
            && let Pat::Ident(p) = &*field.pat
            && let syn::Member::Named(member) = &field.member
            && p.ident != *member
        {
            field.colon_token = Some(Default::default());
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        self.namer.visit_expr_mut(expr);
    }
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
}

impl VisitMut for Namer<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scoped(|me| block.stmts.iter_mut().for_each(|s| me.visit_stmt_mut(s)));
    }
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        let Stmt::Local(local) = stmt else { return visit_mut::visit_stmt_mut(self, stmt) };
        if let Some(init) = &mut local.init {
            self.visit_expr_mut(&mut init.expr);
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
        let refutable = local.init.as_ref().is_some_and(|init| init.diverge.is_some());
        self.bind(&mut local.pat, refutable);
    }
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        if path.qself.is_none()
            && let Some(ident) = path.path.get_ident()
            && let Some(var) = self.names.look_up(&ident.to_string())
        {
            let span = ident.span();
            if context(span) != context(self.names.vars[var].key.span()) {
                let what =
                    format!("`{ident}` comes from a macro, and from where that is called: it may be one local or two");
                self.reasons.add(span, what, "give the local another name in the macro");
            }
            let key = named(&self.names.vars[var].key.to_string(), span);
            path.path = key.into();
        } else if let Some(ident) = path.path.get_ident() {
            self.free.insert(ident.to_string());
        }
    }
    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        match &*call.func {
            // A function may have the same name as a local.
            Expr::Path(path) if path.path.get_ident().is_some_and(|i| self.names.look_up(&i.to_string()).is_none()) => {
            }
            _ => self.visit_expr_mut(&mut call.func),
        }
        call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
    }
    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        let before = field.expr.to_token_stream().to_string();
        visit_mut::visit_field_value_mut(self, field);
        if field.colon_token.is_none() && field.expr.to_token_stream().to_string() != before {
            field.colon_token = Some(Default::default());
        }
    }
    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.scoped(|me| {
            closure.inputs.iter_mut().for_each(|p| me.bind(p, false));
            me.visit_expr_mut(&mut closure.body);
        });
    }
    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.scoped(|me| {
            me.bind(&mut arm.pat, true);
            me.visit_expr_mut(&mut arm.body);
        });
    }
    fn visit_expr_let_mut(&mut self, binding: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut binding.expr);
        self.bind(&mut binding.pat, true);
    }
    fn visit_expr_if_mut(&mut self, branch: &mut syn::ExprIf) {
        self.scoped(|me| {
            me.visit_expr_mut(&mut branch.cond);
            me.visit_block_mut(&mut branch.then_branch);
        });
        if let Some((_, other)) = &mut branch.else_branch {
            self.visit_expr_mut(other);
        }
    }
    fn visit_expr_while_mut(&mut self, branch: &mut syn::ExprWhile) {
        self.scoped(|me| {
            me.visit_expr_mut(&mut branch.cond);
            me.visit_block_mut(&mut branch.body);
        });
    }
    fn visit_expr_for_loop_mut(&mut self, branch: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut branch.expr);
        self.scoped(|me| {
            me.bind(&mut branch.pat, false);
            me.visit_block_mut(&mut branch.body);
        });
    }
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        if crate::scan::is_join(mac) {
            if let Ok(mut branches) = crate::parse::branches(mac) {
                branches.iter_mut().for_each(|b| self.visit_expr_mut(b));
                mac.tokens = quote::quote!(#branches);
            }
            return;
        }
        let Some((style, mut arguments)) = macros::parse(mac) else {
            let name = mac.path.to_token_stream().to_string();
            return self.reasons.add(
                mac.path.segments[0].ident.span(),
                format!("the names inside `{name}!` cannot be seen"),
                "move the macro call into a plain function",
            );
        };
        match &mut arguments {
            macros::Arguments::List(list) => {
                if style != macros::Style::Value {
                    for name in macros::captures(mac, list) {
                        let raw = format!("r#{name}");
                        let locals = [name.to_string(), raw];
                        let Some(local) = locals.iter().find(|local| self.names.look_up(local).is_some()) else {
                            continue;
                        };
                        let local = named(local, name.span());
                        let expr = syn::parse_quote!(#local);
                        list.push(macros::Argument { name: Some(name), expr });
                    }
                }
                list.iter_mut().for_each(|a| self.visit_expr_mut(&mut a.expr));
            }
            macros::Arguments::Repeat(value, len) => {
                self.visit_expr_mut(value);
                self.visit_expr_mut(len);
            }
            macros::Arguments::Matches(expr, pat, guard) => {
                self.visit_expr_mut(expr);
                self.scoped(|me| {
                    me.bind(pat, true);
                    if let Some(guard) = guard {
                        me.visit_expr_mut(guard);
                    }
                });
            }
            macros::Arguments::None => {
                // Macros of std with no names of locals inside.
                let known = |name: &&Ident| self.names.look_up(&name.to_string()).is_some();
                if let Some(name) = macros::idents(&mac.tokens).iter().find(known) {
                    let what = format!("`{name}` stands in `{}!`", mac.path.to_token_stream());
                    self.reasons.add(name.span(), what, "move the macro call into a plain function");
                }
                return;
            }
        }
        macros::rebuild(mac, &arguments);
    }
}
