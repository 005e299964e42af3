//! The atoms and ghosts of each node, computed before any object exists.

use std::collections::HashMap;

use super::cells::Pairs;

/// The placement of atoms and ghosts.
pub struct Plan {
    /// Each atom's index among the atoms of its node.
    pub turns: Vec<u32>,
    /// Each ghost's node and atom.
    pub ghosts: Vec<(usize, u32)>,
    /// The index in `ghosts` of each ghost.
    pub known: HashMap<(usize, u32), usize>,
    /// The numbers of atoms and ghosts of each node.
    counts: Vec<(u32, u32)>,
    /// Each ghost's index among the ghosts of its node.
    slots: Vec<u32>,
}

impl Plan {
    /// Makes the plan in one pass over all pairs.
    pub fn new(pairs: &Pairs, homes: &[usize], nodes: usize) -> Plan {
        let mut plan = Plan {
            turns: Vec::new(),
            ghosts: Vec::new(),
            known: HashMap::new(),
            counts: vec![(0, 0); nodes],
            slots: Vec::new(),
        };
        for &home in homes {
            plan.turns.push(plan.counts[home].0);
            plan.counts[home].0 += 1;
        }
        for (atom, &home) in homes.iter().enumerate() {
            for partner in pairs.of(atom).iter().filter(|partner| homes[partner.atom as usize] != home) {
                let ghost = (home, partner.atom);
                plan.known.entry(ghost).or_insert_with(|| {
                    plan.ghosts.push(ghost);
                    plan.slots.push(plan.counts[home].1);
                    plan.counts[home].1 += 1;
                    plan.ghosts.len() - 1
                });
            }
        }
        plan
    }

    /// Returns the index of the force on a ghost in its patch's sums.
    pub fn place(&self, ghost: usize) -> u32 {
        let (node, _) = self.ghosts[ghost];
        self.counts[node].0 + self.slots[ghost]
    }
}
