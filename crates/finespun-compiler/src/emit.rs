//! Writing the code of a schema.
//!
//! | file | writes |
//! |---|---|
//! | [`item`] | signatures |
//! | [`free`] | free functions and their descriptors |
//! | [`method`] | methods, and what stands beside them |
//! | [`dynamic`] | what stands beside a trait |
//! | [`object`] | what stands beside an object's `impl` block |
//! | [`straight`] | a body that awaits nothing, or only straight tasks |
//! | [`listed`] | by what a body is found to be straight |
//! | [`pinned`] | a body as an ordinary `async` state machine |
//! | [`stack`] | the hot version: awaits are calls and one check |
//! | [`resume`] | its cold version: entered once, at the await that blocked |
//! | [`checks`] | what rustc must find true of types and names |
//! | [`exits`] | `return`, `?`, `break`, `continue` where they mean something else |
//!
//! Generated names and `unsafe` carry the macro's own spans. `unsafe` blocks
//! hold generated tokens only.

pub(crate) mod checks;
pub(crate) mod dynamic;
mod exits;
mod free;
pub(crate) mod item;
mod listed;
mod method;
pub(crate) mod object;
pub(crate) mod pinned;
mod regions;
mod resume;
mod stack;
pub(crate) mod straight;
mod ties;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Expr, Ident, Type};

use crate::choose::Code;
use crate::flow::capture::Flow;
use crate::ir::{Body, Call, PointId};
use crate::names::Names;
use crate::scan::Known;

/// A body that is ready to be written as a stack task.
pub(crate) struct Ready {
    /// The parameters' attributes, patterns, and what they are bound to.
    pub(crate) params: Vec<(Vec<syn::Attribute>, syn::Pat, TokenStream)>,
    /// The leading exits.
    pub(crate) head: Vec<syn::Stmt>,
    pub(crate) body: Body,
    pub(crate) names: Names,
    pub(crate) flow: Flow,
    pub(crate) ret: Type,
    /// Without guard checks.
    pub(crate) unchecked: bool,
    /// With the list of the callees' schemas, by which the task may be straight.
    pub(crate) listed: bool,
    /// Its frames run at one node only, and need not be `Send`.
    pub(crate) located: bool,
}

impl Ready {
    /// Is every outcome handed to the caller as it is?
    pub(crate) fn forwards(&self) -> bool {
        self.entries().is_empty()
    }

    /// The points that need an entry into the resumable code, in order.
    fn entries(&self) -> Vec<PointId> {
        (0..self.body.points.len()).filter(|&p| !self.flow.forwards[p]).collect()
    }
}

/// A body in the stack schema.
pub(crate) fn stack(ready: &Ready) -> Code {
    Code {
        head: stack::head(ready),
        rest: ready.names.restore(stack::write(ready)),
        forwards: ready.forwards(),
        inlined: false,
        listed: ready.listed,
        demands: ready.flow.demands.clone(),
    }
}

/// The type that says which task this is, for whoever catches a panic of it.
fn named(name: &Ident) -> TokenStream {
    let shown = name.unraw().to_string();
    let here = quote::quote_spanned!(name.span()=> ::finespun::__rt::Origin::here(#shown));
    quote::quote_spanned! {Span::mixed_site()=>
        struct __Task;
        impl ::finespun::__rt::Named for __Task {
            const ORIGIN: &'static ::finespun::__rt::Origin = &#here;
        }
    }
}

/// The user's own code begins: from here to `own_ends` the task is noted if it panics.
fn own_begins() -> TokenStream {
    quote::quote_spanned!(Span::mixed_site()=> let mut __note = ::finespun::__rt::Note::<__Task>::new();)
}

/// The task is left, or another one called that says itself who it is.
fn own_ends() -> TokenStream {
    quote::quote_spanned!(Span::mixed_site()=> ::finespun::__rt::Note::end(__note);)
}

/// A future of the user's own code.
fn noted(future: TokenStream) -> TokenStream {
    quote::quote_spanned!(Span::mixed_site()=> ::finespun::__rt::Noted::<__Task, _>::new(#future))
}

/// `__a0`, `__a1`, ...
pub(crate) fn argument(index: usize) -> Ident {
    Ident::new(&format!("__a{index}"), Span::mixed_site())
}

/// The variant of the entry enum for the `index`-th of `count` entries, around
/// `payload`: an expression or a pattern.
fn entry(index: usize, count: usize, payload: TokenStream, span: Span) -> TokenStream {
    let outer = format_ident!("En{}", count.min(16), span = span);
    if index < 15 || count <= 16 {
        let variant = format_ident!("P{index}", span = span);
        return quote::quote_spanned!(span=> ::finespun::__rt::#outer::#variant(#payload));
    }
    let inner = entry(index - 15, count - 15, payload, span);
    quote::quote_spanned!(span=> ::finespun::__rt::#outer::P15(#inner))
}

/// The tuple of these, with the comma that a single one needs.
fn tuple<T: ToTokens>(items: impl IntoIterator<Item = T>) -> TokenStream {
    let items = items.into_iter();
    quote!((#(#items,)*))
}

/// The operands of a call and the locals they are bound to.
fn bound(
    ready: &Ready,
    call: &Call,
    span: Span,
    edit: &mut dyn FnMut(&Expr) -> TokenStream,
) -> (Vec<Ident>, TokenStream) {
    let mut names = Vec::new();
    let mut lets = TokenStream::new();
    for (i, operand) in call.operands().iter().enumerate() {
        let name = format_ident!("__t{i}", span = span);
        let known = crate::scan::known(operand);
        let mut operand = edit(operand);
        if let Some(known) = known {
            let shown = match known {
                Known::Creation => quote::quote_spanned!(span=> creation),
                Known::Checked => quote::quote_spanned!(span=> checked),
                Known::Oneway => quote::quote_spanned!(span=> oneway),
            };
            operand = quote::quote_spanned!(span=> ::finespun::__rt::#shown(#operand));
        }
        lets.extend(match ready.located {
            true => quote::quote_spanned!(span=> let #name = #operand;),
            false => quote::quote_spanned!(span=> let #name = ::finespun::__rt::send(#operand);),
        });
        names.push(name);
    }
    (names, lets)
}
