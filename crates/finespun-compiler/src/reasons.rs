//! The reasons why a body cannot have the stack schema.
//!
//! A reason is either the explanation in the rustdoc of a task that was compiled as pinned, or, under `#[task(stack)]`,
//! an error with its location and cure.

use proc_macro2::Span;

/// One reason against the stack schema.
#[derive(Clone)]
pub(crate) struct Reason {
    pub(crate) span: Span,
    /// The obstacle, as a clause: "`v` is lent to the call and used again".
    pub(crate) what: String,
    /// The user's remedy.
    pub(crate) cure: &'static str,
    /// The local that is lent, if a loan is the obstacle.
    pub(crate) lends: Option<syn::Ident>,
}

/// The reasons found so far.
#[derive(Default)]
pub(crate) struct Reasons(pub(crate) Vec<Reason>);

impl Reasons {
    pub(crate) fn add(&mut self, span: Span, what: impl Into<String>, cure: &'static str) {
        self.add_loan(span, what, cure, None);
    }

    /// Adds a reason, which is a loan of the local `lends`.
    pub(crate) fn add_loan(
        &mut self,
        span: Span,
        what: impl Into<String>,
        cure: &'static str,
        lends: Option<syn::Ident>,
    ) {
        let what = what.into();
        if !self.0.iter().any(|r| r.what == what) {
            self.0.push(Reason { span, what, cure, lends });
        }
    }
}
