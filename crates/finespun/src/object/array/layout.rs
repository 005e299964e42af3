//! Layouts for [`Array::create`](crate::Array::create): the assignment of elements to nodes.
//!
//! A layout maps each index to the node of its element. Any closure can be a layout, for example one that reads a map:
//! `move |index| map[index]`. This module has the usual ones, for one dimension. The share of accesses to the caller's
//! own node determines how many calls run on the caller's stack (Plevyak, Karamcheti, Zhang, Chien: *A Hybrid Execution
//! Model for Fine-Grained Languages on Distributed Memory Multicomputers*, section 4.3).
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

/// Keeps neighbours together: divides `len` elements into one block per node; block lengths differ by at most one.
///
/// # Panics
/// If `nodes` is 0; the layout panics for an index that is not below `len`.
#[track_caller]
pub fn block(len: usize, nodes: usize) -> impl Fn(usize) -> usize + Copy + Send + Sync {
    assert!(nodes > 0, "a layout needs at least one node");
    let (each, more) = (len / nodes, len % nodes);
    move |index| {
        assert!(index < len, "a layout of {len} elements has none at {index}");
        // The first `more` nodes have `each + 1` elements, the others `each`.
        if index < more * (each + 1) { index / (each + 1) } else { more + (index - more * (each + 1)) / each }
    }
}

/// Keeps neighbours apart: deals elements to the nodes round-robin.
///
/// # Panics
/// If `nodes` is 0.
#[track_caller]
pub fn cyclic(nodes: usize) -> impl Fn(usize) -> usize + Copy + Send + Sync {
    block_cyclic(1, nodes)
}

/// Deals blocks of `block` neighbours to the nodes round-robin.
///
/// # Panics
/// If `nodes` or `block` is 0.
#[track_caller]
pub fn block_cyclic(block: usize, nodes: usize) -> impl Fn(usize) -> usize + Copy + Send + Sync {
    assert!(nodes > 0 && block > 0, "a layout needs at least one node and non-empty blocks");
    move |index| index / block % nodes
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn block_lengths_differ_by_at_most_one() {
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
    fn cyclic_layouts_are_round_robin() {
        assert_eq!((0..7).map(cyclic(3)).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!((0..7).map(block_cyclic(2, 3)).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2, 0]);
    }

    #[test]
    #[should_panic(expected = "has none at 3")]
    fn block_layout_panics_out_of_bounds() {
        block(3, 2)(3);
    }
}
