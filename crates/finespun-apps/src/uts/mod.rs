//! Unbalanced Tree Search: counts the nodes of a tree that is generated during the search.
//!
//! A node is 20 bytes of SHA-1; its hash determines the number of its children, and a child is the hash of its parent
//! and its number. No property of a subtree is known before a visit, so no static split balances the work: in the
//! binomial trees a few of the root's 2,000 children have nearly all nodes. The benchmark is due to Olivier, Huan, Liu,
//! Prins, Dinan, Sadayappan and Tseng (LCPC 2006); [`Tree`] reproduces the original's generators exactly.
//!
//! Answers: the published sizes, depths and numbers of leaves of the [named trees](Tree::named), for example T1:
//! 4,130,071 nodes, depth 10, 3,305,118 leaves; T3L: 111,345,631 nodes, depth 17,844.
//!
//! Both versions use the same hash function: the `sha1` crate's compression of one block, which uses the processor's
//! SHA instructions where available.

mod hash;
mod options;
mod tree;

pub use options::{NAMES, TreeError};
pub use tree::{Kind, Node, Shape, Tree};

use finespun::prelude::*;
use finespun::simulation;
use serde::{Deserialize, Serialize};

/// The results of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of nodes, the root included.
    pub nodes: u64,
    /// Depth of the deepest node; the root's is 0.
    pub depth: u64,
    /// Number of nodes without children.
    pub leaves: u64,
}

impl Counts {
    /// Returns the counts of `node` alone, which has `children` children.
    #[inline]
    fn of(node: Node, children: u32) -> Self {
        Counts { nodes: 1, depth: u64::from(node.depth()), leaves: u64::from(children == 0) }
    }

    /// Returns the counts of two disjoint parts of a tree together.
    #[inline]
    #[must_use]
    pub fn and(self, other: Counts) -> Self {
        Counts {
            nodes: self.nodes + other.nodes,
            depth: self.depth.max(other.depth),
            leaves: self.leaves + other.leaves,
        }
    }
}

/// Searches `tree` sequentially, with a stack of unvisited nodes.
///
/// Any depth works: the list holds at most depth times the number of children, 24 bytes each.
pub fn plain(tree: &Tree) -> Counts {
    let mut counts = Counts { nodes: 0, depth: 0, leaves: 0 };
    let mut open = vec![tree.root()];
    while let Some(node) = open.pop() {
        let children = tree.children(node);
        counts = counts.and(Counts::of(node, children));
        open.extend((0..children).map(|child| tree.child(node, child)));
    }
    counts
}

/// Searches `tree` sequentially by recursion, as the original does.
///
/// Uses 200 to 300 bytes of stack per level: T3L needs 5 MB. [`plain`] needs no stack.
pub fn plain_recursive(tree: &Tree) -> Counts {
    fn visit(tree: &Tree, node: Node) -> Counts {
        let children = tree.children(node);
        let mut counts = Counts::of(node, children);
        for child in 0..children {
            counts = counts.and(visit(tree, tree.child(node, child)));
        }
        counts
    }
    visit(tree, tree.root())
}

/// Elementary operations of making a child: those of the 80 steps of SHA-1.
const CHILD: u64 = 400;

/// Searches `tree`, one task per node, at any depth.
#[task]
pub async fn search(tree: &Tree) -> Counts {
    visit(tree, tree.root()).await
}

/// Searches the subtree of `node`.
#[task(portable)]
pub async fn visit(tree: &Tree, node: Node) -> Counts {
    let children: u32 = tree.children(node);
    let here: Counts = Counts::of(node, children);
    if children == 0 {
        return here;
    }
    simulation::compute(u64::from(children) * CHILD);
    reduce((0..children).map(move |child| visit(tree, tree.child(node, child))), here, |a: Counts, b: Counts| a.and(b))
        .await
}
