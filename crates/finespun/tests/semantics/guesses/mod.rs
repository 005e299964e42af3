//! Bodies in which names and shapes mislead, one a line, unformatted: most were written to find what the task compiler takes
//! for granted.

mod kit;

mod coercions;
mod heads;
mod names;
mod operands;
mod order;
mod shapes;
mod wildcards;
