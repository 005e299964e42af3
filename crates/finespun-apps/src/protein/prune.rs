//! Pruning: detection of partial paths that cannot be completed.

use super::lattice::{Grid, MAX_SITES};

impl Grid {
    /// Returns the neighbours of `head` that can be the next site of a path with the `left` sites of `free` still to
    /// visit; none if the path certainly cannot be completed.
    ///
    /// A free site with at most one free neighbour can be entered but not left: it must be the end of the path, unless
    /// it is a neighbour of the head and becomes the next site. The parity of the end is known. All free sites must be
    /// reachable.
    #[inline(always)]
    pub(super) fn next(&self, free: u64, head: u32, left: u32) -> u64 {
        let near = self.near[(head as usize) % MAX_SITES] & free;
        if near & near.wrapping_sub(1) == 0 {
            // Only a neighbour of the head can have become a dead end, and the path moves to this neighbour.
            return near;
        }
        let (one, two) = self.one_and_two(free);
        let mut next = near;
        let tight = free & !two;
        if tight != 0 {
            if free & !one != 0 {
                return 0;
            }
            let head_is_odd = (self.odd >> head) & 1;
            let end_is_odd = head_is_odd ^ u64::from(left & 1);
            let end_side = if end_is_odd == 1 { self.odd } else { !self.odd };
            let (ends, now_or_last) = (tight & !near, tight & near);
            if ends & ends.wrapping_sub(1) != 0 || ends & !end_side != 0 {
                return 0;
            }
            if now_or_last != 0 {
                let others = now_or_last & now_or_last.wrapping_sub(1);
                // This site is not the last: either the end is elsewhere, or the end has the other parity.
                if ends != 0 || left & 1 == 0 {
                    if others != 0 {
                        return 0;
                    }
                    next = now_or_last;
                } else if others != 0 {
                    if others & others.wrapping_sub(1) != 0 {
                        return 0;
                    }
                    next = now_or_last;
                }
            }
        }
        if self.connected(free, near) { next } else { 0 }
    }

    /// Returns whether the sites of `near` are connected through `free`.
    ///
    /// The free sites were connected before the head was removed from them, so each component touches the head: if all
    /// neighbours of the head are reachable, all free sites are.
    #[inline(always)]
    fn connected(&self, free: u64, near: u64) -> bool {
        let first = near.trailing_zeros() as usize;
        let mut reached = (near & near.wrapping_neg()) | self.near[first % MAX_SITES] & free;
        loop {
            let further = (reached | self.around(reached)) & free;
            if near & !further == 0 {
                return true;
            }
            if further == reached {
                return false;
            }
            reached = further;
        }
    }
}
