//! Bodies in which names and shapes mislead, one a line, unformatted: most were written to find what the task compiler takes
//! for granted.

pub mod kit;

mod boxes;
mod callees;
mod coercions;
mod consumed;
mod headed;
mod heads;
mod loans;
mod moves;
mod names;
mod once;
mod operands;
mod order;
mod programs;
mod reborrows;
mod sessions;
mod shapes;
mod stores;
mod typed;
mod unnamed;
mod views;
mod wildcards;
