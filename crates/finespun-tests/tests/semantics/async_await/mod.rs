//! After `tests/ui/async-await`.

mod async_blocks;
mod bodies;
mod control;
mod drop_order;
mod hidden;
mod lifetimes;
mod places;
mod values;
