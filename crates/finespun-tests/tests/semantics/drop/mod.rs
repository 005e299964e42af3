//! After `tests/ui/drop`.

mod conditional;
mod dynamic_drop;
mod order;
mod rescope;
mod values;
