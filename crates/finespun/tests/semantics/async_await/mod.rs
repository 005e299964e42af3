//! After `tests/ui/async-await`.

mod bodies;
mod control;
mod drop_order;
mod lifetimes;
mod hidden;
mod places;
mod values;
