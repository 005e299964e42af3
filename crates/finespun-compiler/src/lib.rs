//! The task compiler: one `async fn` in, code for one *schema* out.
//!
//! ```text
//! groups     fragments of macros keep their grouping
//! parse      options, items, rejected code            -> error
//! names      every binder gets a unique name
//! closures   some may as well own their captures
//! head       leading exits, inlined into callers
//! normalise  every await at statement level           -> ir
//! flow       liveness, moves, borrows at each await   -> reasons
//! lend       lent locals are in cells                 <- the choice
//! parts      the ends of branches that are pinned     <- the choice
//! pack       finished locals of long bodies are tuples
//! emit       straight, stack (+ resume), pinned
//! ```
//!
//! A plain library from token stream to token stream, so that it can be tested as one. It does not decide about
//! scheduling: all functions that generated code may call are in `finespun::__rt`, or, if messages of rustc name them, in
//! `finespun::tasks::bounds`. The library contains no `unsafe`;
//! generated code does, but its `unsafe` blocks contain no user tokens.
//!
//! # How it works
//!
//! - **Head.** Leading statements that only test for work (`if n < 2 { return n; }`) become a function that callers
//!   inline, in front of the *rest*, which they do not (`head.rs`). So a leaf of a recursion is no call at all. A test
//!   that binds names for the rest (`let Some(node) = node else { return 0 };`) is repeated there with its exit
//!   declared unreachable, at no cost; it may only read places whose evaluation has no side effect. A task that
//!   forwards everything it awaits is inlined as a whole.
//! - **Stack schema.** The normalised body is written exactly twice, so a static or type in an inner block is a reason
//!   against it. The *hot* version (`emit/stack.rs`) is a plain function: each await is a call and a test, and breaks
//!   out with an entry if the callee was suspended. The *cold* version (`emit/resume.rs`, `emit/regions.rs`) is one
//!   `async` block with an arm for each entry or merge point (after an await, at a loop head, after a compound
//!   statement). Locals travel between arms in slots (`Held`) that are emptied before the next await. An arm leaves
//!   ending scopes by a labelled block before it stores the surviving locals.
//! - **Reasons** against the stack schema (`flow/`): at each await, every local in scope must be wholly present or
//!   wholly moved on all paths, or have nothing to drop (`flow/capture.rs`). Where only rustc knows whether a parameter
//!   has a destructor, generated code asks `needs_drop` at compile time. `flow/methods.rs` guesses borrows from names
//!   and annotations; only convenience depends on the guess, because of the next points. A local last mentioned as a
//!   method's receiver, or a field read by value, may have been moved: that is a reason unless the type has no
//!   destructor or std's method borrows. A pattern that binds every field leaves nothing, unless the type implements
//!   `Drop`; generated code checks that where the type is written (`call/drops.rs`).
//! - **Assumptions are checked by rustc** (`emit/checks.rs`). Where the compiler assumes std's macro or variant, or a
//!   number, the generated code does not compile if the assumption is wrong (`__rt::undropped`, probes, `left_behind`,
//!   `consumed`, `numbers`). Resumable code gives an empty type, so a macro that returns where a panic was assumed
//!   cannot continue in another state.
//! - **Borrows are checked by rustc.** A `Child<Tk>` carries the called task's type, and so its borrows. Parameters and
//!   locals are bound inside the block that the entry leaves, so no entry or forwarded child can borrow a local of the
//!   function.
//! - **Send.** Every captured local passes through `send`, and every operand through `operand`, which demand it.
//! - **Forwarding** requires that no live local has something to drop. The borrow check above covers the rest.
//! - **Straight through callees** (`schema.rs`, `emit/listed.rs`). The body's function returns an opaque type that
//!   rustc infers to be the list of its callees' schemas; a task's schema asks that list for the next lower of four
//!   levels. So recursion, which is never straight, makes no type or constant contain itself, and it works across
//!   crates. Only bodies whose awaits follow one another have a list. A straight task has no guard check and its
//!   callers test nothing.
//! - **Pinned schema**: the body as an ordinary `async` block with `.await` and `join!` translated, in a frame from the
//!   start.
//! - **Trait methods** get a hidden sibling `__task_NAME` that returns an `Outcome` and can be called through `dyn`.
//!   The trait's own `NAME` returns a `MethodTask`: receiver, arguments, and a pointer to the implementation, a
//!   constant where that is known.
//! - **Closures** that capture only shared references and numbers, by their written types, are made `move`; in operands
//!   also those that only pass on what they capture, by value (`closures.rs`).
//! - **Cells** (`lend.rs`): if loans of locals are the only reasons against the stack schema, these locals lie in cells from
//!   the first statement that may lend them to the last, and the body names their content through references without a
//!   lifetime. rustc checks the loans on a copy of the body that is never called. Frames hold the cells, not the references.
//! - **Parts** (`parts.rs`): if only the end of a branch, or of a body behind an exit, has a reason against the stack
//!   schema, it becomes an inner pinned task, an `async` block that takes the locals it names and is awaited in tail
//!   position. The analysis of the rest decides how far the part reaches.
//! - **Long bodies**: entries are enums by chunks of the body, and finished locals travel in tuples (`pack.rs`), so that
//!   rustc's work and the code per await do not grow with the number of awaits.
//! - Generated `unsafe` has the macro's own spans and never encloses user tokens, so `#![forbid(unsafe_code)]` holds
//!   for the user's code.
//! - **Messages of rustc** about bounds on the user's types name the cure: the bounds are traits of their own
//!   (`call/bounds.rs`). An operand passes through an associated type that exists for tasks only, so rustc reports an
//!   operand that is no task once. The type that a marked function returns has the bound `OnlyInTasks`, by which plain
//!   `async` code that awaits it gets a message of ours instead of std's.
//!
//! Straightness is inferred for functions only: a method has no place for a type of its own, and a generic task's type
//! would carry its caller's lifetimes into the list. `#[task(straight)]` asserts it, checked when types are known. The
//! entry is delivered at the first poll instead of being captured by the body, because rustc would otherwise keep entry
//! and restored locals, and frames twice as large.

mod choose;
mod closures;
mod emit;
mod entry;
mod error;
mod flow;
mod groups;
mod head;
mod ir;
mod kinds;
mod lend;
mod library;
#[cfg(feature = "listing")]
mod listing;
mod macros;
mod names;
mod normalise;
mod pack;
mod parse;
mod parts;
mod reasons;
mod scan;
mod thread;

use proc_macro2::TokenStream;

pub use library::renamed;
#[cfg(feature = "listing")]
pub use listing::{Listed, Reason, listed};

/// Compiles an `impl` block marked `#[object(arguments)]`.
///
/// Errors as for [`task`].
pub fn object(arguments: TokenStream, block: TokenStream) -> TokenStream {
    marked(arguments, block, parse::object::object)
}

/// Compiles one item marked `#[task(arguments)]`.
///
/// Generated code calls the library as `::finespun`, or by the path that `crate = path` among the arguments gives.
/// Errors are returned as `compile_error!` invocations at the user's own tokens.
pub fn task(arguments: TokenStream, item: TokenStream) -> TokenStream {
    marked(arguments, item, parse::task)
}

/// Compiles a function marked `#[finespun::main(arguments)]`.
///
/// Errors as for [`task`].
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    marked(arguments, item, |arguments, item| entry::entry(entry::Kind::Main, arguments, item))
}

/// Compiles a function marked `#[finespun::test(arguments)]`.
///
/// Errors as for [`task`].
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    marked(arguments, item, |arguments, item| entry::entry(entry::Kind::Test, arguments, item))
}

/// Compiles one function marked `#[thread(arguments)]`.
///
/// Errors as for [`task`].
pub fn thread(arguments: TokenStream, item: TokenStream) -> TokenStream {
    marked(arguments, item, thread::thread)
}

/// Expands `make_closure!`.
///
/// Errors as for [`task`].
pub fn make_closure(tokens: TokenStream) -> TokenStream {
    thread::make_closure(groups::parenthesised(tokens)).unwrap_or_else(|error| error.to_compile_error())
}

/// Expands `tail_call!`.
///
/// Errors as for [`task`].
pub fn tail_call(tokens: TokenStream) -> TokenStream {
    thread::tail_call(groups::parenthesised(tokens)).unwrap_or_else(|error| error.to_compile_error())
}

/// Compiles a marked item. An item with errors is dropped: a half-compiled task would only add errors about code that
/// the user did not write.
fn marked(
    arguments: TokenStream,
    item: TokenStream,
    compile: fn(TokenStream, TokenStream) -> syn::Result<TokenStream>,
) -> TokenStream {
    let compiled = library::given(arguments).and_then(|(path, arguments)| {
        let tokens = compile(arguments, groups::parenthesised(item))?;
        Ok(match path {
            Some(path) => renamed(tokens, &path),
            None => tokens,
        })
    });
    compiled.unwrap_or_else(|error| error.to_compile_error())
}
