//! The generation of a tree.

use serde::{Deserialize, Serialize};

use super::hash::{self, State};

/// A node: all data that a visit needs, by value in 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    state: State,
    depth: u32,
}

impl Node {
    /// Returns the distance from the root.
    pub fn depth(self) -> u32 {
        self.depth
    }
}

/// The rule for a node's number of children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// `-t 0`: the root has a fixed number of children; any other node has `m` with probability `q`, else none.
    Binomial,
    /// `-t 1`: geometrically distributed around an expected number that depends on the depth by a [`Shape`].
    Geometric,
    /// `-t 2`: geometric above the depth `f * d`, binomial below.
    Hybrid,
    /// `-t 3`: the same number for all nodes above depth `d`.
    Balanced,
}

/// The decrease of the expected number of children of a geometric tree with the depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// `-a 0`: linearly, to zero at depth `d`.
    Linear,
    /// `-a 1`: as a power of the depth, to one at depth `d`.
    Exponential,
    /// `-a 2`: up and down with period `d`, for five periods.
    Cyclic,
    /// `-a 3`: constant, but zero from depth `d` on.
    Fixed,
}

/// The parameters of a tree; see [`Tree::parse`] and [`Tree::named`].
///
/// The defaults are the original's: a geometric tree of linear shape with `-b 4 -d 6 -r 0 -q 0.234375 -m 4 -f 0.5 -g
/// 1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    pub(super) kind: Kind,
    pub(super) shape: Shape,
    pub(super) root_children: f64,
    pub(super) depth: u32,
    pub(super) seed: u32,
    pub(super) probability: f64,
    pub(super) inner_children: u32,
    pub(super) shift: f64,
    pub(super) granularity: u32,
    /// ln(1 - p) of the geometric distribution by depth, for the tabulated depths.
    log_failure: Vec<f64>,
}

/// Maximum number of children of a node; does not apply to balanced trees and the root of a binomial tree.
const MAX_CHILDREN: u32 = 100;

/// Maximum number of depths for which the geometric distribution is tabulated, not counting depth 0.
const MAX_TABLE: u32 = 1 << 12;

impl Default for Tree {
    fn default() -> Self {
        Tree {
            kind: Kind::Geometric,
            shape: Shape::Linear,
            root_children: 4.0,
            depth: 6,
            seed: 0,
            probability: 15.0 / 64.0,
            inner_children: 4,
            shift: 0.5,
            granularity: 1,
            log_failure: Vec::new(),
        }
    }
}

impl Tree {
    /// Fills the table after the parameters have been set.
    pub(super) fn tabulate(mut self) -> Self {
        let last = match (self.kind, self.shape) {
            (Kind::Binomial | Kind::Balanced, _) => 0,
            (_, Shape::Cyclic) => self.depth.saturating_mul(5),
            (_, Shape::Exponential) => MAX_TABLE,
            (_, Shape::Linear | Shape::Fixed) => self.depth,
        };
        self.log_failure = (0..=last.min(MAX_TABLE)).map(|depth| self.log_failure_at(depth)).collect();
        self
    }

    /// Returns the rule for the number of children.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the root.
    pub fn root(&self) -> Node {
        Node { state: hash::root(self.seed), depth: 0 }
    }

    /// Returns the child number `number` of `parent`. Cost: one hash, or the number of hashes that `-g` sets.
    #[inline]
    pub fn child(&self, parent: Node, number: u32) -> Node {
        for _ in 1..self.granularity {
            std::hint::black_box(hash::child(parent.state, number));
        }
        Node { state: hash::child(parent.state, number), depth: parent.depth + 1 }
    }

    /// Returns the number of children of `node`.
    #[inline]
    pub fn children(&self, node: Node) -> u32 {
        match self.kind {
            Kind::Binomial if node.depth == 0 => self.root_children as u32,
            Kind::Binomial => self.binomial(node).min(MAX_CHILDREN),
            Kind::Geometric => self.geometric(node).min(MAX_CHILDREN),
            Kind::Hybrid if f64::from(node.depth) < self.shift * f64::from(self.depth) => {
                self.geometric(node).min(MAX_CHILDREN)
            }
            Kind::Hybrid => self.binomial(node).min(MAX_CHILDREN),
            Kind::Balanced if node.depth < self.depth => self.root_children as u32,
            Kind::Balanced => 0,
        }
    }

    #[inline]
    fn binomial(&self, node: Node) -> u32 {
        if uniform(node) < self.probability { self.inner_children } else { 0 }
    }

    /// Inverts the cumulative distribution: returns the number of failures before the first success.
    #[inline]
    fn geometric(&self, node: Node) -> u32 {
        let log_failure = match self.log_failure.get(node.depth as usize) {
            Some(&tabulated) => tabulated,
            None => self.log_failure_at(node.depth),
        };
        // The conversion saturates: a negative number or NaN gives no child.
        ((1.0 - uniform(node)).ln() / log_failure).floor() as u32
    }

    /// Returns ln(1 - p), where p gives the shape's expected number of children at this depth.
    #[cold]
    fn log_failure_at(&self, depth: u32) -> f64 {
        let expected = self.expected_children(depth);
        let p = 1.0 / (1.0 + expected);
        (1.0 - p).ln()
    }

    fn expected_children(&self, depth: u32) -> f64 {
        let (root, at, last) = (self.root_children, f64::from(depth), f64::from(self.depth));
        if depth == 0 {
            return root;
        }
        match self.shape {
            Shape::Linear => root * (1.0 - at / last),
            Shape::Exponential => root * at.powf(-root.ln() / last.ln()),
            Shape::Cyclic if at > 5.0 * last => 0.0,
            Shape::Cyclic => root.powf((2.0 * std::f64::consts::PI * at / last).sin()),
            Shape::Fixed if depth < self.depth => root,
            Shape::Fixed => 0.0,
        }
    }
}

/// Returns the node's own random number, in `[0, 1)`.
#[inline]
fn uniform(node: Node) -> f64 {
    f64::from(hash::random(node.state)) / 2_147_483_648.0
}

#[cfg(test)]
mod tests {
    use super::super::{Counts, plain, plain_recursive};
    use super::Tree;

    #[test]
    fn a_balanced_tree_is_full() {
        let tree = Tree::parse("-t 3 -b 3 -d 7").expect("valid");
        let full = Counts { nodes: (3u64.pow(8) - 1) / 2, depth: 7, leaves: 3u64.pow(7) };
        assert_eq!(plain(&tree), full);
        assert_eq!(plain_recursive(&tree), full);
    }

    #[test]
    fn loop_and_recursion_agree_for_every_shape() {
        for options in
            ["-a 0 -d 8", "-a 1 -d 4 -b 3", "-a 2 -d 3 -b 2", "-a 3 -d 6", "-t 2 -d 8 -b 5", "-t 0 -b 100 -q 0.2 -m 4"]
        {
            for seed in 0..5 {
                let tree = Tree::parse(&format!("{options} -r {seed}")).expect("valid");
                assert_eq!(plain(&tree), plain_recursive(&tree), "{options} -r {seed}");
            }
        }
    }

    #[test]
    fn tabulation_does_not_change_the_counts() {
        let tree = Tree::parse("-a 2 -d 5 -b 3 -r 8").expect("valid");
        let bare = Tree { log_failure: Vec::new(), ..tree.clone() };
        assert_eq!(plain(&tree), plain(&bare));
    }

    #[test]
    fn granularity_does_not_change_the_counts() {
        let tree = Tree::parse("-d 6 -r 3").expect("valid");
        assert_eq!(plain(&tree), plain(&Tree { granularity: 3, ..tree.clone() }));
    }
}
