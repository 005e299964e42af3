//! Runs, groups and teams: the units that frames belong to, and the marks of cancelled runs and terminated groups.
//!
//! A run is all that one call of `Runtime::run` or `Runtime::spawn` starts ([`runs`]); a group is the activities of one
//! construct ([`groups`]). A team is the workers of one runtime: the table of teams leads from any thread to the
//! workers of a frame ([`teams`]). This module holds records and marks. The scheduler sets the marks and makes the
//! workers sweep; [`run`](crate::run) checks them before it runs a frame.

pub(crate) mod groups;
pub(crate) mod runs;
pub(crate) mod teams;
