//! The arguments of `#[task(..)]`.

use proc_macro2::TokenStream;
use syn::{Ident, parse::Parser};

/// What the user asks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Wish {
    /// The compiler chooses.
    Any,
    Stack,
    /// The stack schema without guard checks, to measure what they cost. It is
    /// no schema for programs: nothing stops such a recursion at the end of the
    /// stack, and nobody steals from it.
    Unchecked,
    /// The stack schema even of what awaits nothing, to measure what the straight one
    /// saves.
    MayBlock,
    Pinned,
    Straight,
}

impl Wish {
    /// Is the stack schema demanded?
    pub(crate) fn is_stack(self) -> bool {
        matches!(self, Wish::Stack | Wish::Unchecked | Wish::MayBlock)
    }
}

pub(crate) struct Options {
    pub(crate) wish: Wish,
    /// A method of an object.
    pub(crate) located: bool,
}

impl Options {
    pub(crate) fn parse(arguments: TokenStream) -> syn::Result<Options> {
        if arguments.is_empty() {
            return Ok(Options { wish: Wish::Any, located: false });
        }
        let unknown = "expected one of `stack`, `pinned` and `straight`, or nothing";
        let parser = |input: syn::parse::ParseStream| {
            let name = input.parse::<Ident>().map_err(|e| syn::Error::new(e.span(), unknown))?;
            if input.is_empty() { Ok(name) } else { Err(input.error(unknown)) }
        };
        let name = parser.parse2(arguments)?;
        let wish = match name.to_string().as_str() {
            "stack" => Wish::Stack,
            "unchecked" => Wish::Unchecked,
            "may_block" => Wish::MayBlock,
            "pinned" => Wish::Pinned,
            "straight" => Wish::Straight,
            _ => return Err(syn::Error::new(name.span(), unknown)),
        };
        Ok(Options { wish, located: false })
    }
}
