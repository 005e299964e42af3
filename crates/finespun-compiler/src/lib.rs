//! The task compiler: one `async fn` in, code for one *schema* out.
//!
//! ```text
//! parse      options, items, what is refused          -> error
//! names      every binder gets a name of its own
//! closures   some may as well own what they capture
//! head       leading exits, which callers inline
//! normalise  every await stands at statement level    -> ir
//! flow       who is alive, moved, lent at each await  -> reasons
//! emit       straight, stack (+ resume), pinned       <- the choice
//! ```
//!
//! A plain library from token stream to token stream, so that it can be tested
//! as one. It decides nothing about scheduling: all that generated code may
//! call lives in `finespun::__rt`. It contains no `unsafe`; what it writes
//! does, and user tokens never stand inside such a block.

mod choose;
mod closures;
mod emit;
mod error;
mod flow;
mod head;
mod ir;
mod kinds;
mod macros;
mod names;
mod normalise;
mod parse;
mod reasons;
mod scan;
mod thread;

use proc_macro2::TokenStream;

/// Compiles an `impl` block marked `#[object]`.
///
/// Errors as for [`task`].
pub fn object(arguments: TokenStream, block: TokenStream) -> TokenStream {
    match parse::object::object(arguments, block.clone()) {
        Ok(tokens) => tokens,
        Err(error) => error::render(error, block),
    }
}

/// Compiles one item marked `#[task(arguments)]`.
///
/// Errors come back as `compile_error!` invocations at the user's own tokens.
pub fn task(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match parse::task(arguments, item.clone()) {
        Ok(tokens) => tokens,
        Err(error) => error::render(error, item),
    }
}

/// Compiles one function marked `#[thread(arguments)]`.
///
/// Errors as for [`task`].
pub fn thread(arguments: TokenStream, item: TokenStream) -> TokenStream {
    thread::thread(arguments, item.clone()).unwrap_or_else(|error| error::render(error, item))
}

/// Expands `make_closure!`.
///
/// Errors as for [`task`].
pub fn make_closure(tokens: TokenStream) -> TokenStream {
    thread::make_closure(tokens.clone()).unwrap_or_else(|error| error::render(error, tokens))
}

/// Expands `tail_call!`.
///
/// Errors as for [`task`].
pub fn tail_call(tokens: TokenStream) -> TokenStream {
    thread::tail_call(tokens.clone()).unwrap_or_else(|error| error::render(error, tokens))
}
