//! The traffic patterns: the concert paper's section 4.3.1.

use finespun_object_apps::microkernel::{Destinations, Draw};

/// A traffic pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One node sends to another, which only receives.
    PointToPoint,
    /// Each node sends to others; the hot node of a hot spot is node 0.
    Spread(Destinations),
    /// All other nodes send to node 0.
    AllToOne,
}

/// All patterns by name, in the paper's order.
pub const PATTERNS: [(&str, Pattern); 6] = [
    ("point-to-point", Pattern::PointToPoint),
    ("all-to-all", Pattern::Spread(Destinations::AllToAll)),
    ("random", Pattern::Spread(Destinations::Random)),
    ("hotspot x4", Pattern::Spread(Destinations::Hotspot(4))),
    ("hotspot x16", Pattern::Spread(Destinations::Hotspot(16))),
    ("all-to-one", Pattern::AllToOne),
];

impl Pattern {
    /// Returns the number of nodes that take part.
    pub fn nodes(self, nodes: usize) -> usize {
        if self == Pattern::PointToPoint { 2 } else { nodes }
    }

    /// Returns true if `node` computes between its messages.
    pub(super) fn computes(self, node: usize) -> bool {
        self != Pattern::PointToPoint || node != 0
    }

    /// Returns the destinations of `messages` messages of `node`. `nodes` is at least two.
    pub fn destinations(self, nodes: usize, node: usize, messages: usize) -> Vec<usize> {
        let mut draw = Draw::new(node as u64);
        match self {
            Pattern::PointToPoint | Pattern::AllToOne if node == 0 => Vec::new(),
            Pattern::PointToPoint | Pattern::AllToOne => vec![0; messages],
            Pattern::Spread(destinations) => {
                (0..messages).map(|left| destinations.pick(nodes, node, left, &mut draw)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Destinations, PATTERNS, Pattern};

    const MESSAGES: usize = 70_000;

    /// Returns the number of messages that each of eight nodes gets, as a multiple of the number that a node sends.
    fn shares(pattern: Pattern) -> Vec<f64> {
        let mut got = vec![0; 8];
        for node in 0..8 {
            for to in pattern.destinations(8, node, MESSAGES) {
                assert_ne!(to, node, "a message to oneself needs no transport");
                got[to] += 1;
            }
        }
        got.into_iter().map(|got| f64::from(got) / MESSAGES as f64).collect()
    }

    #[test]
    fn every_node_gets_its_share_of_the_pattern() {
        let near = |found: &[f64], wanted: f64| found.iter().all(|found| (found / wanted - 1.0).abs() < 0.05);
        assert!(shares(Pattern::Spread(Destinations::AllToAll)).iter().all(|&share| share == 1.0));
        assert!(near(&shares(Pattern::Spread(Destinations::Random)), 1.0));
        for times in [4, 16] {
            let shares = shares(Pattern::Spread(Destinations::Hotspot(times)));
            // The hot node gets the fraction `times / (times + 6)` of the messages of each of the seven others.
            let other = 1.0 / (f64::from(times) + 6.0);
            assert!(near(&shares[..1], 7.0 * f64::from(times) * other), "{shares:?}");
            // Each other node gets the share `other` of six senders, and a seventh of the hot node's messages.
            assert!(near(&shares[1..], 6.0 * other + 1.0 / 7.0), "{shares:?}");
        }
        assert_eq!(shares(Pattern::AllToOne), [7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn only_two_nodes_take_part_in_point_to_point() {
        let point = Pattern::PointToPoint;
        assert_eq!([point.nodes(8), Pattern::AllToOne.nodes(8)], [2, 8]);
        assert_eq!([point.destinations(8, 0, 3), point.destinations(8, 1, 3)], [vec![], vec![0, 0, 0]]);
        assert_eq!([0, 1].map(|node| point.computes(node)), [false, true]);
    }

    #[test]
    fn all_to_all_is_a_permutation_in_every_turn() {
        let (_, pattern) = PATTERNS[1];
        let to: Vec<_> = (0..8).map(|node| pattern.destinations(8, node, 100)).collect();
        for left in 0..100 {
            let mut at: Vec<_> = to.iter().map(|to| to[left]).collect();
            at.sort_unstable();
            assert!(at.into_iter().eq(0..8));
        }
    }
}
