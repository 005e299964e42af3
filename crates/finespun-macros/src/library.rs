//! The name of the library in the crate that is being compiled: the manifest may have renamed the dependency.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};

/// Renames the library in generated code to its name in this crate. A crate that uses it through another crate gives
/// `crate = path`.
pub(crate) fn found(tokens: TokenStream) -> proc_macro::TokenStream {
    match crate_name("finespun") {
        Ok(FoundCrate::Name(name)) if name != "finespun" => {
            let path = Ident::new(&name, Span::call_site()).into();
            finespun_compiler::renamed(tokens, &path).into()
        }
        _ => tokens.into(),
    }
}
