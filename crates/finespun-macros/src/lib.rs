//! The proc-macro shell of the task compiler.
//!
//! Nothing is decided here: token streams go to `finespun_compiler` and come
//! back. The compiler is a plain library so that it can be tested as one.

use proc_macro::TokenStream;

/// Compiles an `async fn` to a task: a call that may later turn out to have
/// been a thread.
///
/// Goes on a free function, on a method, or on a whole `trait` or `impl` block
/// (then on each `async fn` in it). Inside, `.await` awaits tasks and `join!`
/// runs two to twelve of them, the later ones open to thieves.
///
/// The compiler chooses a *schema* and writes it, with its reason, into the
/// item's documentation:
///
/// | schema | chosen when | price of a call |
/// |---|---|---|
/// | straight | the body awaits nothing, or only straight tasks | a plain call |
/// | stack | everything that lives across an await may move | a call and one check |
/// | pinned | otherwise | a small heap frame, polled in place |
///
/// `#[task(stack)]` turns every reason against the stack schema into an error
/// that names the place and the cure; `#[task(pinned)]` forces the other;
/// `#[task(straight)]` asserts that every awaited task is straight.
///
/// Whether a function's callees are straight is known to rustc alone, so such a
/// function is straight without more ado if they are: it never looks whether
/// another worker wants something, and may lend its locals to them. That goes for
/// three levels of functions that await, one callee after another. What awaits in
/// a loop or by `join!` keeps its looks, for there others get their turn and find
/// work; what is generic and awaits, and methods that await, may suspend as far
/// as their callers know.
///
/// About borrows the compiler guesses, from names and annotations, and rustc has
/// the last word: where it says that a local "does not live long enough" or
/// "cannot be moved" at an await that looks right, choose `#[task(pinned)]`, or
/// give the borrowed value a `let` with its type. A closure that captures
/// nothing but numbers and shared references, by their written types, need not
/// say `move`.
///
/// # Traits
///
/// On a whole trait, the attribute makes tasks that work through `dyn` under
/// the same names, if no method has type parameters, takes `self` by value or
/// names `Self` (those that say `where Self: Sized` do not count). Nothing is
/// boxed. Mark its implementations as a whole, too. If a method takes `&self`,
/// the type must be `Sync` where it is called; if `&mut self`, `Send`: write the
/// trait as `trait Shape: Sync`, or the object as `dyn Shape + Sync`.
///
/// Where the conditions above fail, the tasks are made for sized types only. A
/// single method is marked in an inherent `impl` only (rustc says of others that
/// visibility qualifiers are not permitted): what stands in a trait, or in an
/// implementation of one, is marked with it. So is a function without `self` in
/// a generic `impl`.
#[proc_macro_attribute]
pub fn task(arguments: TokenStream, item: TokenStream) -> TokenStream {
    finespun_compiler::task(arguments.into(), item.into()).into()
}
