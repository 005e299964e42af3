//! Skynet: a tree of fan-out 10 whose leaves return their own numbers.

/// Children of every inner node.
pub const FAN_OUT: u64 = 10;

/// The sum of all leaf numbers, in closed form.
pub fn answer(leaves: u64) -> u64 {
    leaves * (leaves - 1) / 2
}
