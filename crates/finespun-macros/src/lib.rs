//! The proc-macro shell of the task compiler.
//!
//! Nothing is decided here: token streams go to `finespun_compiler` and come
//! back. The compiler is a plain library so that it can be tested as one.

mod library;

use proc_macro::TokenStream;

use library::found;

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
/// Generated code finds the library under the name that the crate's manifest gives it. A crate that has it through another
/// crate's re-export says so: `#[task(crate = other::finespun)]`, alone or behind the schema. `#[object]` and `#[thread]`
/// take the same.
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
    found(finespun_compiler::task(arguments.into(), item.into()))
}

/// Makes a type's methods callable through references: the type's values can be objects that live on a node.
///
/// Goes on an `impl` block of the type's own methods. Each `fn` and `async fn` that takes one of these can be called
/// through a `Ref` of the type, by the same name, as a task:
///
/// | receiver | meaning, for the whole method |
/// |---|---|
/// | `&self` | shared: with other shared methods, no exclusive one |
/// | `&mut self` | exclusive |
/// | `this: Ref<Self>` | none: it runs at the object's home, and calls short methods that lock |
///
/// A plain `fn` is straight: where the object is, and free, it is called at the price of a few instructions. An
/// `async fn` is compiled as `#[task]` would, which also may be said of it (`#[task(pinned)]`); it may await whatever
/// a task may, and holds its object meanwhile. It runs at the object's home only, so neither the object nor what the
/// method keeps needs to be `Send`.
///
/// A plain `fn` of `&self` alone that is marked `#[constant]` says what does not change: it is called once, when the
/// object is made, and what it gave is read afterwards without a lock, whoever holds the object.
///
/// Callers get an object in the order in which they ask for it. `#[object(readers_first)]` lets shared methods pass
/// exclusive ones that wait: more of them at once, and no exclusive one as long as they keep coming.
///
/// Arguments and results travel between nodes, so they are `Portable`: owned, `Send`, and known to serde. Functions
/// that take none of the three stay what they are. A type has one such block; methods that are not for others go into
/// a block without the attribute.
#[proc_macro_attribute]
pub fn object(arguments: TokenStream, block: TokenStream) -> TokenStream {
    found(finespun_compiler::object(arguments.into(), block.into()))
}

/// Makes a thread of a function: code whose calls can be described by closures. See `finespun::closure`.
///
/// The function returns nothing, takes what is owned and `Send`, and never waits. Its last parameter may be a `Vector<T>`,
/// whose length each closure has of its own. Its first may be marked `#[shared]`: a reference that is no argument, to what the
/// computation shares (`top(..).sharing(value)`). `#[thread(post)]` lets `make_closure!` post full closures of it at once.
///
/// It becomes a type of the function's name, for `make_closure!` and `tail_call!`; it cannot be called otherwise.
#[proc_macro_attribute]
pub fn thread(arguments: TokenStream, item: TokenStream) -> TokenStream {
    found(finespun_compiler::thread(arguments.into(), item.into()))
}

/// Makes a closure of a thread: `make_closure!(thread, a, _, c)`, with `_` for a missing argument.
///
/// If none is missing, this is a `Closure`, to be posted. Else it is a struct that has, under the name of each missing
/// parameter, its continuation `Cont<T>`. For an array or a `Vector<T>`, `_[n]` lets each of n elements be missing: the
/// field is an iterator of their continuations; of zero elements it adds nothing to what is missing. The elements of a
/// `Vector<T>` otherwise come from an array or an iterator that knows its length.
///
/// Panics outside a computation (`closure::top`).
#[proc_macro]
pub fn make_closure(tokens: TokenStream) -> TokenStream {
    found(finespun_compiler::make_closure(tokens.into()))
}

/// Goes on with another thread: `tail_call!(thread, a, b, c)`, the last thing that a thread does.
///
/// A plain call of its code, without a closure and without the scheduler. If the stack is nearly used up, or somebody wants
/// something of this worker, a closure is posted instead.
#[proc_macro]
pub fn tail_call(tokens: TokenStream) -> TokenStream {
    found(finespun_compiler::tail_call(tokens.into()))
}
