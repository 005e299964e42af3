//! The name of the library in the crate that is compiled: its manifest may have renamed the dependency.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};

/// Generated code under the name that the library has here. A crate that has it from elsewhere says `crate = path`.
pub(crate) fn found(tokens: TokenStream) -> proc_macro::TokenStream {
    match crate_name("finespun") {
        Ok(FoundCrate::Name(name)) if name != "finespun" => {
            let path = Ident::new(&name, Span::call_site()).into();
            finespun_compiler::renamed(tokens, &path).into()
        }
        _ => tokens.into(),
    }
}
