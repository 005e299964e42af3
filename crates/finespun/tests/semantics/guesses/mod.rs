//! Bodies in which names and shapes mislead, one a line, unformatted: most were written to find what the task compiler takes
//! for granted.

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
