//! Tasks that outlive the expression that creates them: `spawn`, scopes and handles ([`spawn`](mod@spawn)), their
//! frames ([`body`]), and waits: for a task of another group ([`elsewhere`]), and for its panic, too ([`join`]).

mod body;
mod elsewhere;
pub(crate) mod join;
pub(crate) mod spawn;
