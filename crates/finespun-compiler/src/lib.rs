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
//! emit       straight, stack (+ resume), pinned       <- the choice
//! ```
//!
//! A plain library from token stream to token stream, so that it can be tested as one. It does not decide about
//! scheduling: all functions that generated code may call are in `finespun::__rt`. The library contains no `unsafe`;
//! generated code does, but its `unsafe` blocks contain no user tokens.

mod choose;
mod closures;
mod emit;
mod error;
mod flow;
mod groups;
mod head;
mod ir;
mod kinds;
mod library;
mod macros;
mod names;
mod normalise;
mod parse;
mod reasons;
mod scan;
mod thread;

use proc_macro2::TokenStream;

pub use library::renamed;

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
