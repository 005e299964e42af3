//! `parblock!` and `select!`: calls in the form of macros, so that their branches look like branches.

use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAsync, ExprClosure, ExprMacro, Item, Macro, Stmt, Token, parse_quote_spanned};

use super::{branches, check, select};
use crate::error::Errors;
use crate::macros;

/// Replaces the macros by calls, in this function (not in a closure or an `async` block inside).
pub(super) fn expand(block: &mut Block, errors: &mut Errors) {
    Expand(errors).visit_block_mut(block);
}

struct Expand<'a>(&'a mut Errors);

/// The maximum number of tasks in one `parblock!`.
const MOST: usize = 12;

impl Expand<'_> {
    fn call(&mut self, mac: &Macro) -> Option<Expr> {
        if select::is_select(mac) {
            return match select::expand(mac) {
                Ok(expression) => Some(expression),
                Err(error) => {
                    self.0.span(error.span(), error);
                    None
                }
            };
        }
        if mac.path.segments.last().is_none_or(|segment| segment.ident != "parblock") {
            return None;
        }
        let branches = match branches(mac) {
            Ok(branches) if (1..=MOST).contains(&branches.len()) => branches,
            Ok(_) => {
                self.0.at(mac, "`parblock!` takes 1 to 12 tasks, separated by commas");
                return None;
            }
            Err(error) => {
                self.0.span(error.span(), error);
                return None;
            }
        };
        branches.iter().for_each(|branch| check::not_a_block(branch, self.0));
        let branches = branches.iter();
        Some(parse_quote_spanned!(mac.span() => ::finespun::group::parblock((#(#branches,)*)).await))
    }
}

impl VisitMut for Expand<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let last = block.stmts.len();
        for (at, statement) in block.stmts.iter_mut().enumerate() {
            if let Stmt::Macro(written) = statement
                && let Some(call) = self.call(&written.mac)
            {
                let semicolon = written.semi_token.or((at + 1 < last).then(|| Token![;](written.mac.span())));
                *statement = Stmt::Expr(call, semicolon);
            }
        }
        // At the end of a block, a macro in braces is a value, too.
        if let Some(Stmt::Macro(written)) = block.stmts.last()
            && written.semi_token.is_none()
            && macros::parse(&written.mac).is_some()
        {
            let value = ExprMacro { attrs: written.attrs.clone(), mac: written.mac.clone() };
            block.stmts.pop();
            block.stmts.push(Stmt::Expr(Expr::Macro(value), None));
        }
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Macro(written) = expr
            && let Some(call) = self.call(&written.mac)
        {
            *expr = call;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
