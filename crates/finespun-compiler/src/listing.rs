//! Lists the schemas of the tasks in a source file, without compiling it.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, ItemFn, ItemImpl, ItemTrait, LitStr, TraitItemFn};

/// A task and its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The function's name.
    pub name: String,
    /// The line of the name, from 1 on.
    pub line: usize,
    /// The schema: "stack", "pinned", "straight if all its callees are straight; otherwise stack", and the like.
    pub schema: String,
    /// Why a part of the task, or all of it, is pinned.
    pub reason: Option<Reason>,
}

/// The reason why a task is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The line of the obstacle, from 1 on.
    pub line: usize,
    /// The obstacle, and the cure behind a colon.
    pub text: String,
}

/// Returns the tasks of a source file, in order of their lines. Items that macros of the program write are not found.
///
/// # Errors
///
/// If the file is not Rust, or a task in it is rejected; the error has its place.
pub fn listed(source: &str) -> syn::Result<Vec<Listed>> {
    let mut tasks = Tasks(Ok(Vec::new()));
    tasks.visit_file(&syn::parse_file(source)?);
    tasks.0
}

/// The tasks found so far, or the first error.
struct Tasks(syn::Result<Vec<Listed>>);

impl Tasks {
    /// Adds the tasks of an item, if one of its attributes marks it. Returns whether it does.
    fn marked<I: Clone + ToTokens>(&mut self, item: &I, attrs: fn(&mut I) -> &mut Vec<Attribute>) -> bool {
        let mut item = item.clone();
        let place = attrs(&mut item).iter().position(|attr| compiler(attr).is_some());
        let Some(attr) = place.map(|place| attrs(&mut item).remove(place)) else { return false };
        let compile = compiler(&attr).expect("the attribute marks the item");
        let arguments = match &attr.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let compiled = compile(arguments, item.into_token_stream());
        if let Ok(found) = &mut self.0 {
            match error(compiled.clone()) {
                None => Notes { note: None, found }.walk(compiled),
                Some(text) => self.0 = Err(syn::Error::new(text.span(), text.value())),
            }
        }
        true
    }
}

/// Returns the compiler of the items that this attribute marks.
fn compiler(attr: &Attribute) -> Option<fn(TokenStream, TokenStream) -> TokenStream> {
    let name = &attr.path().segments.last()?.ident;
    match () {
        () if name == "task" => Some(crate::task),
        () if name == "object" => Some(crate::object),
        () => None,
    }
}

impl<'a> Visit<'a> for Tasks {
    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        if !self.marked(item, |item| &mut item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }
    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        if !self.marked(item, |item| &mut item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }
    fn visit_trait_item_fn(&mut self, item: &'a TraitItemFn) {
        if !self.marked(item, |item| &mut item.attrs) {
            visit::visit_trait_item_fn(self, item);
        }
    }
    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if !self.marked(item, |item| &mut item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }
    fn visit_item_trait(&mut self, item: &'a ItemTrait) {
        if !self.marked(item, |item| &mut item.attrs) {
            visit::visit_item_trait(self, item);
        }
    }
}

/// Returns the text of the first `compile_error!` in generated code; it stands at the place of the error.
fn error(tokens: TokenStream) -> Option<LitStr> {
    let mut named = false;
    for tree in tokens {
        match tree {
            TokenTree::Ident(name) => named |= name == "compile_error",
            TokenTree::Group(group) if named => {
                return syn::parse2(group.stream()).ok();
            }
            TokenTree::Group(group) => {
                if let Some(found) = error(group.stream()) {
                    return Some(found);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    None
}

/// Collects the lines about schemas in the documentation of generated functions.
struct Notes<'a> {
    /// A line whose function follows: its text, and the source line that it is about.
    note: Option<(String, usize)>,
    found: &'a mut Vec<Listed>,
}

impl Notes<'_> {
    fn walk(&mut self, tokens: TokenStream) {
        let mut function = false;
        for tree in tokens {
            match tree {
                TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    if let Ok(text) = syn::parse2::<LitStr>(TokenTree::from(literal).into())
                        && let Some(text) = text.value().strip_prefix("*Task schema: ")
                    {
                        self.note = Some((text.trim_end_matches(".*").to_string(), line));
                    }
                }
                TokenTree::Ident(name) => {
                    if function && let Some(note) = self.note.take() {
                        self.add(name.to_string(), name.span().start().line, note);
                    }
                    function = name == "fn";
                }
                TokenTree::Group(group) => self.walk(group.stream()),
                TokenTree::Punct(_) => {}
            }
        }
    }

    fn add(&mut self, name: String, line: usize, (text, place): (String, usize)) {
        let (schema, reason) = match text.split_once(", because ") {
            Some((schema, reason)) => (schema.to_string(), Some(Reason { line: place, text: reason.to_string() })),
            None => (text, None),
        };
        self.found.push(Listed { name, line, schema, reason });
    }
}
