//! Writes the code of a schema.
//!
//! | file | writes |
//! |---|---|
//! | [`item`] | signatures |
//! | [`free`] | free functions and their descriptors |
//! | [`method`] | methods and the items beside them |
//! | [`dynamic`] | the items beside a trait |
//! | [`object`] | the items beside an object's `impl` block |
//! | [`straight`] | a body that awaits nothing, or only straight tasks |
//! | [`listed`] | the list of callees' schemas that makes a body straight |
//! | [`pinned`] | a body as an ordinary `async` state machine |
//! | [`stack`] | the hot version: awaits are calls and one check |
//! | [`resume`] | its cold version: entered once, at the await that blocked |
//! | [`slots`] | where locals are between the cold version's parts |
//! | [`checks`] | assumptions about types and names, for rustc to check |
//! | [`exits`] | `return`, `?`, `break`, `continue` where they change their meaning |
//!
//! Generated names and `unsafe` carry the macro's own spans. `unsafe` blocks hold generated tokens only.

pub(crate) mod checks;
pub(crate) mod dynamic;
mod exits;
mod free;
pub(crate) mod item;
mod listed;
mod method;
pub(crate) mod object;
pub(crate) mod pinned;
mod portable;
mod regions;
mod resume;
mod slots;
mod stack;
pub(crate) mod straight;
mod ties;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Expr, Ident, Type};

use crate::choose::Code;
use crate::flow::capture::Flow;
use crate::flow::event::Place;
use crate::ir::{Body, Call, PointId};
use crate::lend::{Cell, Move};
use crate::names::Names;
use crate::scan::Known;

/// A body that is ready to be written as a stack task.
pub(crate) struct Ready {
    /// The parameters' attributes and patterns, and the expressions that the patterns bind.
    pub(crate) params: Vec<(Vec<syn::Attribute>, syn::Pat, TokenStream)>,
    /// The leading exits.
    pub(crate) head: Vec<syn::Stmt>,
    pub(crate) body: Body,
    pub(crate) names: Names,
    pub(crate) flow: Flow,
    pub(crate) ret: Type,
    /// The code has no guard checks.
    pub(crate) unchecked: bool,
    /// The code contains the list of the callees' schemas, which may make the task straight.
    pub(crate) listed: bool,
    /// The task's frames run at one node only, and need not be `Send`.
    pub(crate) located: bool,
    /// The locals that pinned parts of the body take.
    pub(crate) taken: Vec<Ident>,
    /// The cells of lent locals.
    pub(crate) cells: Vec<Cell>,
    /// The places where lent locals get their values back.
    pub(crate) moves: Vec<Move>,
}

impl Ready {
    /// Returns whether the task forwards every outcome to its caller.
    pub(crate) fn forwards(&self) -> bool {
        self.entries().is_empty()
    }

    /// Returns the await points that need an entry into the resumable code, in order.
    fn entries(&self) -> Vec<PointId> {
        (0..self.body.points.len()).filter(|&p| !self.flow.forwards[p]).collect()
    }
}

impl Ready {
    /// Returns the cells that exist at a location.
    fn cells_at(&self, place: Place) -> impl Iterator<Item = &Cell> {
        let scope = self.flow.scope.get(&place);
        let exists =
            move |cell: &Ident| self.names.find(cell).is_some_and(|var| scope.is_some_and(|s| s.contains(&var)));
        self.cells.iter().filter(move |cell| exists(&cell.cell))
    }

    /// Returns the entries by chunks, each a run of statements of the body. Few entries are one chunk. rustc keeps the unknown
    /// types of an enum pending until its last variant is constructed, and looks at all pending types with each expression; so
    /// a long body has an enum for each chunk.
    fn chunks(&self) -> Vec<Vec<PointId>> {
        const WIDTH: usize = 8;
        let entries = self.entries();
        if entries.len() <= 2 * WIDTH {
            return vec![entries];
        }
        let mut chunks: Vec<Vec<PointId>> = Vec::new();
        for index in 0..self.body.blocks[self.body.root].nodes.len() {
            let mut inside = self.body.points_in(self.body.root, index);
            inside.retain(|&p| !self.flow.forwards[p]);
            match chunks.last_mut() {
                Some(last) if last.len() + inside.len() <= WIDTH => last.extend(inside),
                _ if inside.is_empty() => {}
                _ => chunks.push(inside),
            }
        }
        chunks
    }

    /// Returns the number of the chunk of a point, the variant of the chunk's enum around `payload`, and the number of chunks.
    fn chunk(&self, point: PointId, payload: TokenStream, span: Span) -> (usize, TokenStream, usize) {
        let chunks = self.chunks();
        let position = |points: &Vec<PointId>| points.iter().position(|p| *p == point);
        let found = chunks.iter().enumerate().find_map(|(n, points)| Some((n, position(points)?, points.len())));
        let (chunk, index, len) = found.expect("every entry is in a chunk");
        (chunk, entry(index, len, payload, span), chunks.len())
    }

    /// Returns the pattern of the whole entry at a point.
    fn entered(&self, point: PointId, payload: TokenStream, span: Span) -> TokenStream {
        match self.chunk(point, payload, span) {
            (_, inner, 1) => inner,
            (chunk, inner, chunks) => entry(chunk, chunks, inner, span),
        }
    }
}

/// Writes a body in the stack schema.
pub(crate) fn stack(ready: &Ready) -> Code {
    Code {
        head: stack::head(ready),
        rest: ready.names.restore(stack::write(ready)),
        forwards: ready.forwards(),
        inlined: false,
        pinned: None,
        lent: Vec::new(),
        direct: false,
        listed: ready.listed,
        demands: ready.flow.demands.clone(),
    }
}

/// Writes the type that names the task in a reported panic.
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

/// Returns the macro's own span at the type of a task's result, where rustc reports that the type may not move between
/// threads.
fn site_of(ret: &Type) -> Span {
    syn::spanned::Spanned::span(ret).resolved_at(Span::mixed_site())
}

/// Starts the user's own code: until `own_ends`, a panic is attributed to this task.
fn own_begins() -> TokenStream {
    quote::quote_spanned!(Span::mixed_site()=> let mut __note = ::finespun::__rt::Note::<__Task>::new();)
}

/// Ends the user's own code: the task returns, or calls another task, which attributes its panics itself.
fn own_ends() -> TokenStream {
    quote::quote_spanned!(Span::mixed_site()=> ::finespun::__rt::Note::end(__note);)
}

/// Wraps a future of the user's own code, so that its panics are attributed to this task.
fn noted(future: TokenStream) -> TokenStream {
    quote::quote_spanned!(Span::mixed_site()=> ::finespun::__rt::Noted::<__Task, _>::new(#future))
}

/// Wraps a part of a body, an `async` block, into a task.
fn part(part: &TokenStream, located: bool) -> TokenStream {
    let task = format_ident!("{}", if located { "pinned_task_here" } else { "pinned_task" }, span = Span::mixed_site());
    let part = noted(quote!(#part));
    quote::quote_spanned! {Span::mixed_site()=> {
        #[allow(unused_braces)]
        let __part = move || #part;
        unsafe { ::finespun::__rt::#task(__part) }
    }}
}

/// `__a0`, `__a1`, ...
pub(crate) fn argument(index: usize) -> Ident {
    Ident::new(&format!("__a{index}"), Span::mixed_site())
}

/// Returns the variant of the entry enum for the `index`-th of `count` entries, around `payload`: an expression or a
/// pattern. Many entries are a tree of enums: each type parameter of a variant's enum is one that rustc has to infer.
fn entry(index: usize, count: usize, payload: TokenStream, span: Span) -> TokenStream {
    const WIDTH: usize = 16;
    let each = std::iter::successors(Some(1), |each| Some(each * WIDTH)).find(|each| each * WIDTH >= count);
    let each = each.expect("a power is larger");
    let (outer, variant) = (count.div_ceil(each), index / each);
    let payload = match each {
        1 => payload,
        _ => entry(index % each, each.min(count - variant * each), payload, span),
    };
    let (outer, variant) = (format_ident!("En{outer}", span = span), format_ident!("P{variant}", span = span));
    quote::quote_spanned!(span=> ::finespun::__rt::#outer::#variant(#payload))
}

/// Returns the items as a tuple, with the comma that a single item needs.
fn tuple<T: ToTokens>(items: impl IntoIterator<Item = T>) -> TokenStream {
    let items = items.into_iter();
    quote!((#(#items,)*))
}

/// Returns the locals that hold the operands of a call, and the `let`s that bind them.
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
        let part = matches!(operand, Expr::Async(_));
        let mut operand = edit(operand);
        if part {
            operand = self::part(&operand, ready.located);
        }
        if let Some(known) = known {
            let shown = match known {
                Known::Creation => quote::quote_spanned!(span=> creation),
                Known::Checked => quote::quote_spanned!(span=> checked),
                Known::Oneway => quote::quote_spanned!(span=> oneway),
            };
            operand = quote::quote_spanned!(span=> ::finespun::__rt::#shown(#operand));
        }
        lets.extend(match ready.located {
            true => quote::quote_spanned!(span=> let #name = ::finespun::tasks::bounds::operand_here(#operand);),
            false => quote::quote_spanned!(span=> let #name = ::finespun::tasks::bounds::operand(#operand);),
        });
        names.push(name);
    }
    (names, lets)
}

#[cfg(test)]
mod tests {
    use super::{Span, entry};

    #[test]
    fn many_entries_are_a_tree_of_enums() {
        let variant = |index, count| {
            let tokens = entry(index, count, quote::quote!(x), Span::call_site()).to_string();
            tokens.replace(' ', "").replace("::finespun::__rt::", "")
        };
        assert_eq!([variant(0, 1), variant(15, 16)], ["En1::P0(x)", "En16::P15(x)"]);
        assert_eq!([variant(15, 17), variant(16, 17)], ["En2::P0(En16::P15(x))", "En2::P1(En1::P0(x))"]);
        assert_eq!(variant(255, 256), "En16::P15(En16::P15(x))");
        assert_eq!(variant(256, 257), "En2::P1(En1::P0(x))");
        assert_eq!(variant(17, 257), "En2::P0(En16::P1(En16::P1(x)))");
    }
}
