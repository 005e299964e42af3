//! Generations of table entries: no two objects of a process have the same name.
//!
//! A name contains the object's node number, its index in the node's table, and a generation. The tables of several
//! runtimes have the same node numbers and indices. So the generations of an entry come from one sequence for each node
//! number and index in the whole *process*: a name in one runtime equals no name in another, alive or dropped. The
//! comparison that detects the reference of a freed object as stale also detects another runtime's reference, at no
//! further cost.
//!
//! A sequence ends at [`GENERATIONS`] and never wraps around: after that no runtime can use the entry for a new object.
//! So a process can create about 2^38 objects at each node number, over all its runtimes and its whole life, of which
//! 2^25 can be alive at once in a runtime. The sequences take two bytes for each index that any runtime's table has
//! had, rounded up to whole blocks, and are never freed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU16, Ordering};

use super::reference::GENERATIONS;
use crate::process::ProcessMutex;

/// The last generation assigned at each of some consecutive indices; 0 if none has been.
type Block = &'static [AtomicU16];

/// The binary logarithm of the number of indices in the first block. Each later block has as many as all before it
/// together, because tables grow by doubling.
const FIRST: u32 = 6;

/// The blocks of each node number.
static BLOCKS: ProcessMutex<Option<HashMap<u32, Vec<Block>>>> = ProcessMutex::new(None);

/// One table's access to the generations of its node number.
pub(super) struct Generations {
    node: u32,
    /// The blocks for the indices that this table has reached.
    blocks: RefCell<Vec<Block>>,
}

/// Returns the block of an index, and the position in the block.
fn place(index: u32) -> (usize, usize) {
    match index.checked_ilog2() {
        Some(log) if log >= FIRST => ((log - FIRST + 1) as usize, (index - (1 << log)) as usize),
        _ => (0, index as usize),
    }
}

impl Generations {
    pub(super) fn of_node(node: u32) -> Generations {
        Generations { node, blocks: RefCell::new(Vec::new()) }
    }

    /// Prepares for `index`, before the first call of [`next`](Generations::next) for it.
    pub(super) fn reach(&self, index: u32) {
        let (block, _) = place(index);
        let mut own = self.blocks.borrow_mut();
        if block < own.len() {
            return;
        }
        let mut blocks = BLOCKS.lock();
        let all = blocks.get_or_insert_default().entry(self.node).or_default();
        while all.len() <= block {
            let len = 1_usize << (FIRST as usize + all.len().saturating_sub(1));
            all.push(Vec::leak((0..len).map(|_| AtomicU16::new(0)).collect()));
        }
        let reached = own.len();
        own.extend_from_slice(&all[reached..=block]);
    }

    /// Takes the next generation of an entry. Returns `None` if all have been taken.
    pub(super) fn next(&self, index: u32) -> Option<u32> {
        let (block, place) = place(index);
        let last = &self.blocks.borrow()[block][place];
        // Relaxed, both: only uniqueness matters. The load keeps the counter from overflowing: once the counter has
        // reached the end, each table increments it at most once more, by a call whose load came before. The counter
        // has room for far more increments than a process has runtimes.
        if u32::from(last.load(Ordering::Relaxed)) >= GENERATIONS {
            return None;
        }
        let generation = u32::from(last.fetch_add(1, Ordering::Relaxed)) + 1;
        (generation <= GENERATIONS).then_some(generation)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn blocks_cover_every_index_once() {
        let mut seen = HashSet::new();
        for index in 0..1000 {
            let (block, at) = place(index);
            assert!(at < 1 << (FIRST as usize + block.saturating_sub(1)), "{index}");
            assert!(seen.insert((block, at)), "{index}");
        }
    }

    #[test]
    fn tables_of_one_node_number_never_take_the_same_generation() {
        // No runtime has a node with this number.
        let tables = [Generations::of_node(1 << 20), Generations::of_node(1 << 20)];
        let mut taken = HashSet::new();
        for table in &tables {
            table.reach(100);
        }
        while let (Some(a), Some(b)) = (tables[0].next(100), tables[1].next(100)) {
            assert!(taken.insert(a) && taken.insert(b));
        }
        assert!(taken.len() as u32 >= GENERATIONS - 1);
        assert_eq!((tables[0].next(100), tables[1].next(100)), (None, None));
        // A table that is created later finds the sequence at its end too.
        let later = Generations::of_node(1 << 20);
        later.reach(100);
        assert_eq!(later.next(100), None);
        assert_eq!(later.next(99), Some(1));
    }
}
