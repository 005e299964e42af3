//! The task compiler's results for a body, without rustc: refusals, and the schema.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use proc_macro2::{TokenStream, TokenTree};

use crate::body::{Body, Form};

/// Returns the forms that the task compiler refuses, with its message.
pub fn by_the_compiler(body: &Body) -> Vec<(Form, String)> {
    let mut refused = Vec::new();
    for (form, arguments) in [(Form::Pinned, "pinned"), (Form::Auto, "")] {
        let output = compile(arguments, &body.marked());
        if let Err(message) = output.and_then(|output| error(&output).map_or(Ok(()), Err)) {
            match form {
                // The compiler treats the automatic forms alike.
                Form::Auto => {
                    refused.extend(body.forms.iter().filter(|f| **f != Form::Pinned).map(|f| (*f, message.clone())));
                }
                form => refused.push((form, message)),
            }
        }
    }
    refused
}

/// Returns the schema that the task compiler chooses, according to the documentation that it writes.
pub fn schema(body: &Body) -> Option<String> {
    let output = compile("", &body.marked()).ok()?.to_string();
    let (_, note) = output.split_once("*Task schema: ")?;
    note.split_once(".*").map(|(schema, _)| schema.to_string())
}

fn compile(arguments: &str, item: &str) -> Result<TokenStream, String> {
    let parse = |text: &str| text.parse::<TokenStream>().map_err(|error| format!("not tokens: {error}"));
    let (arguments, item) = (parse(arguments)?, parse(item)?);
    silence_panics();
    QUIET.set(true);
    let output = catch_unwind(AssertUnwindSafe(|| finespun_compiler::task(arguments, item)));
    QUIET.set(false);
    output.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
        format!("the task compiler panicked: {text}")
    })
}

thread_local! {
    /// Suppresses the output of this thread's panics.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Makes the panic hook ignore the threads that are quiet.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                hook(info);
            }
        }));
    });
}

/// Returns the text of the first `compile_error!`.
fn error(output: &TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = output.clone().into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if name == "compile_error" => {
                if let Some(TokenTree::Group(text)) = tokens.get(at + 2) {
                    return Some(text.stream().to_string().trim_matches('"').to_string());
                }
            }
            TokenTree::Group(group) => {
                if let Some(text) = error(&group.stream()) {
                    return Some(text);
                }
            }
            _ => {}
        }
    }
    None
}
