//! What there will be on each node, before there are objects.

use std::collections::HashMap;

use super::cells::Pairs;

/// Where each atom and each ghost is, before there are objects.
pub struct Plan {
    /// Each atom's place among those of its node.
    pub turns: Vec<u32>,
    /// Which node's ghosts stand for which atoms, in this order.
    pub ghosts: Vec<(usize, u32)>,
    /// The place of each ghost among all.
    pub known: HashMap<(usize, u32), usize>,
    /// How many atoms and ghosts each node has.
    counts: Vec<(u32, u32)>,
    /// The place of each ghost among those of its node.
    slots: Vec<u32>,
}

impl Plan {
    /// Goes through all pairs once.
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

    /// Where a node's patch keeps the force on a ghost.
    pub fn place(&self, ghost: usize) -> u32 {
        let (node, _) = self.ghosts[ghost];
        self.counts[node].0 + self.slots[ghost]
    }
}
