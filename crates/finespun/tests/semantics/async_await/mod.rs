//! After `tests/ui/async-await`.

mod bodies;
mod control;
mod drop_order;
mod hidden;
mod lifetimes;
mod places;
mod values;
