//! Runs, groups and teams: what frames belong to, and whether it has been cancelled or terminated.
//!
//! A run is all that one call of `Runtime::run` or `Runtime::spawn` starts ([`runs`]); a group is the activities of one
//! construct ([`groups`]). A team is the workers of one runtime: the table of teams leads from any thread to the workers of
//! a frame ([`teams`]). This module holds records and marks; [`run`](crate::run) acts on them.

pub(crate) mod groups;
pub(crate) mod runs;
pub(crate) mod teams;
