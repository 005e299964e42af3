//! Waiting: for a continuation ([`suspend`]), for std futures and blocking calls ([`foreign`]), until a run is
//! quiescent ([`quiesce`]); and the declaration that code outside the tasks will end a wait ([`outside`]).

pub(crate) mod delivery;
pub(crate) mod foreign;
pub(crate) mod outside;
pub(crate) mod quiesce;
pub(crate) mod suspend;
