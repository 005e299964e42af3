//! Skynet: a tree of fan-out 10 whose leaves return their own numbers.

/// Number of children of every inner node.
pub const FAN_OUT: u64 = 10;

/// Returns the sum of all leaf numbers, in closed form.
pub fn answer(leaves: u64) -> u64 {
    leaves * (leaves - 1) / 2
}
