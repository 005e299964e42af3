//! The distribution of an array's elements: for each index a node, and a place there.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The assignment of indices to nodes, derived from a layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Shape {
    /// A run for each node, of equal lengths or one longer: `layout::block`.
    Block { each: usize, more: usize },
    /// A run for each node, of any length: the start of each run, and the end of the last.
    #[serde(serialize_with = "write_runs", deserialize_with = "read_runs")]
    Runs(Arc<[usize]>),
    /// Blocks of `block` indices, dealt to `nodes` nodes in turn: `layout::block_cyclic`, `layout::cyclic`.
    Cyclic { block: usize, nodes: usize },
    /// Any other layout: tables.
    #[serde(serialize_with = "write_map", deserialize_with = "read_map")]
    Map(Arc<Tables>),
}

/// Number of nodes that a runtime can have.
const MOST_NODES: usize = 1 << 16;

/// Consecutive indices on one node, up to the next run.
#[derive(Debug, PartialEq)]
struct Run {
    start: usize,
    node: usize,
}

/// The position of each index, and the indices of each node.
#[derive(Debug, PartialEq)]
pub(super) struct Tables {
    /// The node of each index, and the place there.
    spots: Vec<(u32, u32)>,
    /// The indices of each node.
    indices: Vec<Vec<u32>>,
}

impl Tables {
    fn of(homes: impl Iterator<Item = u32>) -> Tables {
        let mut tables = Tables { spots: Vec::new(), indices: Vec::new() };
        for (index, home) in homes.enumerate() {
            if tables.indices.len() <= home as usize {
                tables.indices.resize_with(home as usize + 1, Vec::new);
            }
            let there = &mut tables.indices[home as usize];
            tables.spots.push((home, there.len() as u32));
            there.push(index as u32);
        }
        tables
    }

    /// Returns the indices of a node, in their order.
    fn on(&self, node: usize) -> &[u32] {
        self.indices.get(node).map_or(&[], Vec::as_slice)
    }
}

fn write_runs<S: Serializer>(starts: &Arc<[usize]>, to: S) -> Result<S::Ok, S::Error> {
    starts.serialize(to)
}

fn read_runs<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<[usize]>, D::Error> {
    Vec::deserialize(from).map(Arc::from)
}

fn write_map<S: Serializer>(tables: &Arc<Tables>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(tables.spots.iter().map(|(home, _)| home))
}

fn read_map<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Tables>, D::Error> {
    let homes: Vec<u32> = Vec::deserialize(from)?;
    if homes.iter().any(|&home| home as usize >= MOST_NODES) {
        return Err(D::Error::custom("a node that does not exist"));
    }
    Ok(Arc::new(Tables::of(homes.into_iter())))
}

impl Shape {
    /// Returns the shape of a layout of `len` indices, and the number of nodes that it names. Calls the layout once for
    /// each index, and again if the nodes do not come in order.
    ///
    /// # Panics
    /// If the layout names a node of 65536 or above, or an array with an irregular layout has 2^32 elements or more.
    pub(super) fn of(len: usize, layout: impl Fn(usize) -> usize) -> (Shape, usize) {
        let layout = |index| {
            let node = layout(index);
            assert!(
                node < MOST_NODES,
                "the layout of an array names node {node}: there are {MOST_NODES} nodes at most"
            );
            node
        };
        // Nodes in order have at most one run each; with one run more they are not in order, and no more need be known.
        let mut runs = Vec::new();
        let mut last = None;
        for start in 0..len {
            let node = layout(start);
            if last != Some(node) {
                runs.push(Run { start, node });
                if runs.len() > MOST_NODES {
                    break;
                }
                last = Some(node);
            }
        }
        if runs.is_sorted_by_key(|run| run.node) {
            return Shape::of_runs(len, &runs);
        }
        // The first block, and the nodes up to the second block of the first of them.
        let block = runs[1].start;
        let nodes = runs.iter().skip(1).position(|run| run.node == runs[0].node).map_or(runs.len(), |at| at + 1);
        if (0..len).all(|index| index / block % nodes == layout(index)) {
            return (Shape::Cyclic { block, nodes }, nodes);
        }
        assert!(len <= u32::MAX as usize, "an array of so many elements has a block or block-cyclic layout");
        let tables = Tables::of((0..len).map(|index| layout(index) as u32));
        let nodes = tables.indices.len();
        (Shape::Map(Arc::new(tables)), nodes)
    }

    /// The same of a layout whose runs are in the order of their nodes.
    fn of_runs(len: usize, runs: &[Run]) -> (Shape, usize) {
        let Some(last) = runs.last() else { return (Shape::none(), 0) };
        let nodes = last.node + 1;
        let block = Shape::Block { each: len / nodes, more: len % nodes };
        if runs.iter().enumerate().all(|(node, run)| *run == Run { start: block.first(node), node }) {
            return (block, nodes);
        }
        // Nodes without elements begin where those before end.
        let starts = (0..=nodes).map(|node| runs.get(runs.partition_point(|run| run.node < node)));
        (Shape::Runs(starts.map(|run| run.map_or(len, |run| run.start)).collect()), nodes)
    }

    /// Returns whether this is the shape of an array of `len` elements over at most `nodes` nodes.
    pub(super) fn fits(&self, len: usize, nodes: usize) -> bool {
        match *self {
            Shape::Block { each, more } => {
                let longer = each.checked_add(1).and_then(|each| each.checked_mul(more));
                let rest = longer.and_then(|longer| len.checked_sub(longer));
                rest.is_some_and(|rest| rest.checked_rem(each).unwrap_or(rest) == 0)
                    && self.nodes_of(len, each, more) <= nodes
            }
            Shape::Runs(ref starts) => {
                let whole = starts.first() == Some(&0) && starts.last() == Some(&len);
                whole && starts.is_sorted() && starts.len() <= nodes + 1
            }
            Shape::Cyclic { block, nodes: dealt } => {
                block > 0 && (1..=nodes).contains(&dealt) && block.checked_mul(dealt).is_some_and(|round| round <= len)
            }
            Shape::Map(ref tables) => tables.spots.len() == len && tables.indices.len() <= nodes,
        }
    }

    /// Returns the shape of an array without elements.
    pub(super) fn none() -> Shape {
        Shape::Block { each: 0, more: 0 }
    }

    /// Returns the node of an index below the length.
    pub(super) fn home(&self, index: usize) -> usize {
        match self {
            Shape::Block { each, more } => match index / (each + 1) {
                node if node < *more => node,
                _ => more + (index - more * (each + 1)) / each,
            },
            Shape::Runs(starts) => starts.partition_point(|&start| start <= index) - 1,
            Shape::Cyclic { block, nodes } => index / block % nodes,
            Shape::Map(tables) => tables.spots[index].0 as usize,
        }
    }

    /// Returns the node of an index below the length, and the place there.
    pub(super) fn spot(&self, index: usize) -> (usize, usize) {
        let home = self.home(index);
        let place = match self {
            Shape::Block { .. } | Shape::Runs(_) => index - self.first(home),
            Shape::Cyclic { block, nodes } => index / (block * nodes) * block + index % block,
            Shape::Map(tables) => tables.spots[index].1 as usize,
        };
        (home, place)
    }

    /// Returns the number of elements of a node, for an array of `len` elements.
    pub(super) fn count(&self, len: usize, node: usize) -> usize {
        match self {
            Shape::Block { each, more } if node < *more => each + 1,
            Shape::Block { each, more } if node < self.nodes_of(len, *each, *more) => *each,
            Shape::Block { .. } => 0,
            Shape::Runs(starts) => starts.get(node + 1).map_or(0, |end| end - starts[node]),
            Shape::Cyclic { block, nodes } if node < *nodes => {
                let (rounds, rest) = (len / (block * nodes), len % (block * nodes));
                rounds * block + rest.saturating_sub(node * block).min(*block)
            }
            Shape::Cyclic { .. } => 0,
            Shape::Map(tables) => tables.on(node).len(),
        }
    }

    /// Returns the index of the element at a place of a node.
    pub(super) fn index(&self, node: usize, place: usize) -> usize {
        match self {
            Shape::Block { .. } | Shape::Runs(_) => self.first(node) + place,
            Shape::Cyclic { block, nodes } => (place / block * nodes + node) * block + place % block,
            Shape::Map(tables) => tables.on(node).get(place).map_or(usize::MAX, |&index| index as usize),
        }
    }

    /// Returns true if each node has consecutive indices.
    pub(super) fn is_block(&self) -> bool {
        matches!(self, Shape::Block { .. } | Shape::Runs(_))
    }

    /// Returns the largest number of elements of a node.
    pub(super) fn most(&self, len: usize) -> usize {
        match self {
            Shape::Map(tables) => tables.indices.iter().map(Vec::len).max().unwrap_or(0),
            Shape::Runs(starts) => starts.windows(2).map(|run| run[1] - run[0]).max().unwrap_or(0),
            _ => self.count(len, 0),
        }
    }

    /// Returns the first index of a node with consecutive indices, else `None`.
    pub(super) fn run(&self, node: usize) -> Option<usize> {
        self.is_block().then(|| self.first(node))
    }

    fn nodes_of(&self, len: usize, each: usize, more: usize) -> usize {
        more + (len - more * (each + 1)).checked_div(each).unwrap_or(0)
    }

    /// Returns the first index of a node of a block layout.
    fn first(&self, node: usize) -> usize {
        match self {
            Shape::Block { each, more } => node * each + node.min(*more),
            // A node that the layout does not name has no elements.
            Shape::Runs(starts) => starts[node.min(starts.len() - 1)],
            _ => 0,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::layout;

    fn holds(len: usize, layout: impl Fn(usize) -> usize) -> Shape {
        let (shape, nodes) = Shape::of(len, &layout);
        let mut counts = vec![0; nodes];
        for index in 0..len {
            let node = layout(index);
            assert_eq!(shape.spot(index), (node, counts[node]), "{shape:?} at {index}");
            assert_eq!(shape.index(node, counts[node]), index);
            counts[node] += 1;
        }
        for (node, count) in counts.into_iter().enumerate() {
            assert_eq!(shape.count(len, node), count, "{shape:?} of {len} at node {node}");
        }
        assert_eq!(shape.count(len, nodes + 1), 0);
        shape
    }

    #[test]
    #[should_panic(expected = "names node 18446744073709551615: there are 65536 nodes at most")]
    fn nodes_beyond_the_last_are_refused() {
        Shape::of(4, |_| usize::MAX);
    }

    #[test]
    fn every_index_has_a_unique_place() {
        for (len, nodes) in [(1, 1), (2, 5), (7, 3), (12, 4), (100, 7), (3, 1)] {
            assert!(matches!(holds(len, layout::block(len, nodes)), Shape::Block { .. }));
            for block in [1, 2, 5] {
                holds(len, layout::block_cyclic(block, nodes));
            }
        }
        assert!(matches!(holds(20, layout::block_cyclic(2, 3)), Shape::Cyclic { block: 2, nodes: 3 }));
        // By rows of 7, as evenly as possible; and nodes without elements.
        for rows in [1, 2, 5, 10, 12] {
            let by_rows = holds(7 * rows, |index| layout::block(rows, 3)(index / 7));
            assert!(matches!(by_rows, Shape::Runs(_) | Shape::Block { .. }), "{by_rows:?}");
        }
        assert!(matches!(holds(6, |index| [1, 1, 1, 1, 4, 4][index]), Shape::Runs(_)));
        assert!(matches!(holds(6, |_| 3), Shape::Runs(_)));
        assert!(matches!(holds(9, |index| [2, 0, 2, 1, 1, 0, 2, 2, 0][index]), Shape::Map(_)));
        assert_eq!(Shape::of(0, |_| 3).1, 0);
        // More runs than there are nodes.
        let many = 3 * MOST_NODES;
        assert!(matches!(holds(many, layout::cyclic(3)), Shape::Cyclic { block: 1, nodes: 3 }));
        assert!(matches!(holds(MOST_NODES + 5, layout::cyclic(MOST_NODES)), Shape::Cyclic { nodes: MOST_NODES, .. }));
        assert!(matches!(holds(MOST_NODES, layout::cyclic(MOST_NODES)), Shape::Block { .. }));
        assert!(matches!(holds(many, |index| index % 3 % 2), Shape::Map(_)));
        // A cycle that does not begin at node 0, and one that is broken at its end.
        assert!(matches!(holds(9, |index| [1, 2, 0][index % 3]), Shape::Map(_)));
        assert!(matches!(holds(9, |index| if index == 8 { 0 } else { index % 3 }), Shape::Map(_)));
    }
}
