//! Bodies with misleading names and shapes, one per line, unformatted: most were written to find assumptions of the
//! task compiler.

pub mod kit;

mod arms;
mod boxes;
mod builders;
mod callees;
mod coercions;
mod consumed;
mod contexts;
mod cursors;
mod headed;
mod heads;
mod leavings;
mod loans;
mod moves;
mod names;
mod numbers;
mod once;
mod operands;
mod order;
mod programs;
mod reborrows;
mod rows;
mod sessions;
mod shapes;
mod shelves;
mod stores;
mod typed;
mod unnamed;
mod views;
mod wildcards;
