//! Tasks that outlive the expression that creates them: `spawn`, scopes and handles ([`spawn`](mod@spawn)), their
//! frames ([`body`]), and waits for a task of another group ([`elsewhere`]).

mod body;
mod elsewhere;
pub(crate) mod spawn;
