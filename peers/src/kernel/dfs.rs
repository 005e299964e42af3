//! A complete tree whose leaves compute for a while.

/// A tree.
#[derive(Clone, Copy, PartialEq)]
pub struct Dfs {
    /// Levels of inner nodes.
    pub depth: u32,
    /// Children of every inner node.
    pub width: u32,
    /// Steps of every leaf.
    pub grain: u32,
}

impl Dfs {
    /// Returns the expected sum of all leaves, modulo 2^64.
    pub fn answer(&self) -> u64 {
        leaf(self.grain).wrapping_mul(u64::from(self.width).pow(self.depth))
    }
}

/// Runs a leaf: five dependent operations per step.
#[inline(never)]
pub fn leaf(grain: u32) -> u64 {
    (0..u64::from(grain)).fold(1, |s: u64, i| {
        let s = s.wrapping_add(i).wrapping_mul(i | 1) ^ i;
        s.wrapping_mul(i | 1).wrapping_add(i)
    })
}
