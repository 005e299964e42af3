//! Where the elements of an array live: layouts for [`Array::create`](crate::Array::create).
//!
//! A layout says for each index which node its element is on. Any closure will do, also one that looks into a given map:
//! `move |index| map[index]`. These are the usual ones, for one dimension; how much stays on its node decides how much of a
//! program runs as plain calls (hybrid-execution-model, section 4.3).
//!
//! ```
//! use finespun::layout;
//! use finespun::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Cell(usize);
//!
//! #[object]
//! impl Cell {
//!     fn home(&self) -> usize {
//!         self.0
//!     }
//! }
//!
//! #[task]
//! async fn homes(len: usize, block: usize) -> Vec<usize> {
//!     let cells = Array::create(len, layout::block_cyclic(block, nodes()), |_, _: &()| Cell(here()), ()).await;
//!     cells.each(|cell| cell.home()).await
//! }
//! # let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
//! assert_eq!(runtime.run(homes(7, 2)), [0, 0, 1, 1, 0, 0, 1]);
//! ```

/// Neighbours together: of `len` elements each node gets a run of as many as the others, or one more.
///
/// # Panics
/// If there are no nodes; where an index is not below `len`.
pub fn block(len: usize, nodes: usize) -> impl Fn(usize) -> usize + Copy + Send + Sync {
    assert!(nodes > 0, "a layout has nodes");
    let (each, more) = (len / nodes, len % nodes);
    move |index| {
        assert!(index < len, "a layout of {len} elements has none at {index}");
        // The first `more` nodes have one more.
        if index < more * (each + 1) { index / (each + 1) } else { more + (index - more * (each + 1)) / each }
    }
}

/// Neighbours apart: dealt to the nodes one by one.
///
/// # Panics
/// If there are no nodes.
pub fn cyclic(nodes: usize) -> impl Fn(usize) -> usize + Copy + Send + Sync {
    block_cyclic(1, nodes)
}

/// Blocks of so many neighbours, dealt to the nodes one by one.
///
/// # Panics
/// If there are no nodes, or nothing is in a block.
pub fn block_cyclic(block: usize, nodes: usize) -> impl Fn(usize) -> usize + Copy + Send + Sync {
    assert!(nodes > 0 && block > 0, "a layout has nodes, and its blocks have elements");
    move |index| index / block % nodes
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_runs_as_long_as_each_other() {
        for (len, nodes) in [(0, 3), (1, 1), (2, 5), (7, 3), (12, 4), (100, 7)] {
            let layout = block(len, nodes);
            let homes: Vec<usize> = (0..len).map(layout).collect();
            assert!(homes.is_sorted() && homes.iter().all(|&home| home < nodes), "{homes:?}");
            let counts: Vec<usize> =
                (0..nodes).map(|node| homes.iter().filter(|&&home| home == node).count()).collect();
            assert!(counts.iter().all(|count| [len / nodes, len.div_ceil(nodes)].contains(count)), "{counts:?}");
        }
    }

    #[test]
    fn what_is_dealt_comes_round() {
        assert_eq!((0..7).map(cyclic(3)).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!((0..7).map(block_cyclic(2, 3)).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2, 0]);
    }

    #[test]
    #[should_panic(expected = "has none at 3")]
    fn what_is_not_there_has_no_home() {
        block(3, 2)(3);
    }
}
