//! The objects.
//!
//! - An [`Atom`] is an object on the node that the layout assigns. It holds its partners in the pairs that are computed
//!   for it, and `interact` iterates over them.
//! - A [`Patch`], one on each node, caches the coordinates of remote atoms. It also accumulates the forces on the
//!   node's own atoms, and this node's contributions to the forces on remote atoms.
//! - A [`Ghost`] fetches one remote atom into the cache. `fetch` holds the ghost's exclusive lock, so other callers
//!   that need the atom wait in the ghost's queue, and one request serves all.
//!
//! The answer is deterministic: a patch adds the pairs of one atom after those of the atoms before it, in the order of the
//! partners, and adds the contributions of other patches in the order of the nodes. On one node this is the order of the
//! plain version. An atom whose turn it is adds each pair at once. Only pairs that are computed out of turn are kept: those
//! of later atoms while an atom waits for coordinates, and those behind a pair that has to wait.

use std::collections::BTreeMap;

use finespun::prelude::*;
use finespun::simulation;
use serde::{Deserialize, Serialize};

use super::system::{Pull, Site, Terms, Vector, pull};
use super::{Energy, add, subtract};

/// Elementary operations of a pair: the distance, a root, two powers and the force.
const PAIR: u64 = 50;

/// An atom.
pub struct Atom {
    site: Site,
    force: Vector,
    table: Option<Table>,
}

/// An atom's partners and the parameters of its pairs.
#[derive(Serialize, Deserialize)]
pub(super) struct Table {
    pub(super) patch: Ref<Patch>,
    /// The atom's index among the atoms of its node.
    pub(super) turn: u32,
    pub(super) partners: Vec<Other>,
    /// The parameters of the pairs that are exceptions.
    pub(super) terms: Vec<Terms>,
}

/// A partner of an atom in a pair.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Other {
    pub(super) who: Who,
    /// Index of the force on the partner in the patch's sums.
    pub(super) place: u32,
    /// Index of the pair's parameters in `Table::terms` if the pair is an exception; else [`REGULAR`].
    pub(super) terms: u32,
}

pub(super) const REGULAR: u32 = u32::MAX;

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum Who {
    Here(Ref<Atom>),
    Elsewhere(Ref<Ghost>),
}

/// The result of one pair.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Entry {
    /// Index of the force on the second atom in the patch's sums.
    place: u32,
    exception: bool,
    pull: Pull,
}

/// The sums of an atom's row so far.
#[derive(Default, Serialize, Deserialize)]
struct Sums {
    force: Vector,
    energy: Energy,
}

impl Sums {
    #[inline(always)]
    fn count(&mut self, entry: &Entry) {
        self.energy.count(&entry.pull, entry.exception);
        add(&mut self.force, entry.pull.force);
    }
}

impl Entry {
    /// Returns a placeholder for a pair that is computed later.
    fn none(partner: &Other) -> Entry {
        let pull = Pull { force: [0.0; 3], lj: 0.0, coulomb: 0.0 };
        Entry { place: partner.place, exception: partner.terms != REGULAR, pull }
    }

    #[inline(always)]
    fn new(site: &Site, other: &Site, partner: &Other, terms: &[Terms]) -> Entry {
        let exception = partner.terms != REGULAR;
        let terms = match exception {
            false => site.with(other),
            true => terms[partner.terms as usize],
        };
        Entry { place: partner.place, exception, pull: pull(site.position, other.position, &terms) }
    }
}

impl Atom {
    pub(super) fn new(site: Site) -> Atom {
        Atom { site, force: [0.0; 3], table: None }
    }
}

#[object]
impl Atom {
    pub(super) fn meet(&mut self, table: Table) {
        self.table = Some(table);
    }

    /// Returns the atom's position and parameters, as its partners need them.
    pub fn site(&self) -> Site {
        self.site
    }

    /// Returns the force on the atom, in kJ/mol/nm.
    pub fn force(&self) -> Vector {
        self.force
    }

    fn push(&mut self, force: Vector) {
        self.force = force;
    }

    /// Computes the pairs of this atom. A partner that is local or cached is a call on the stack. The first request for
    /// an uncached partner suspends this task, which becomes a frame. Pairs whose partner has already been requested
    /// are computed last.
    #[task(stack)]
    async fn interact(&self) {
        let Some(table) = &self.table else { return };
        let site: Site = self.site;
        let patch: Ref<Patch> = table.patch;
        let mut in_turn: bool = patch.is_turn(table.turn).await;
        let mut own: Sums = Sums::default();
        let mut row: Vec<Entry> = Vec::new();
        let mut later: Vec<(u32, usize)> = Vec::new();
        for k in 0..table.partners.len() {
            let partner: Other = table.partners[k];
            let other: Site = match partner.who {
                Who::Here(atom) => {
                    let atom: Ref<Atom> = atom;
                    atom.site().await
                }
                Who::Elsewhere(ghost) => {
                    let ghost: Ref<Ghost> = ghost;
                    match patch.look(partner.place).await {
                        Known::Yes(site) => site,
                        Known::No => ghost.fetch().await,
                        Known::Asked(when) => {
                            in_turn = false;
                            Vec::push(&mut later, (when, k));
                            Vec::push(&mut row, Entry::none(&partner));
                            continue;
                        }
                    }
                }
            };
            simulation::compute(PAIR);
            let entry: Entry = Entry::new(&site, &other, &partner, &table.terms);
            if in_turn {
                own.count(&entry);
                patch.react(entry.place, entry.pull.force).await;
            } else {
                Vec::push(&mut row, entry);
            }
        }
        let added: usize = table.partners.len() - row.len();
        // Waits for the latest request first: when its answer arrives, the earlier ones have usually been answered as
        // well.
        later.sort_unstable_by(|one, other| other.cmp(one));
        for n in 0..later.len() {
            let k: usize = later[n].1;
            let partner: Other = table.partners[k];
            let Who::Elsewhere(ghost) = partner.who else { continue };
            let ghost: Ref<Ghost> = ghost;
            let other: Site = match patch.look(partner.place).await {
                Known::Yes(site) => site,
                Known::No | Known::Asked(_) => ghost.fetch().await,
            };
            simulation::compute(PAIR);
            row[k - added] = Entry::new(&site, &other, &partner, &table.terms);
        }
        patch.take(table.turn, own, row).await;
    }
}

/// A proxy that fetches one remote atom.
pub struct Ghost {
    atom: Ref<Atom>,
    /// The cache, and the atom's index in it.
    cache: Option<(Ref<Patch>, u32)>,
}

impl Ghost {
    pub(super) fn new(atom: Ref<Atom>) -> Ghost {
        Ghost { atom, cache: None }
    }
}

#[object]
impl Ghost {
    pub(super) fn link(&mut self, cache: (Ref<Patch>, u32)) {
        self.cache = Some(cache);
    }

    /// Returns the atom, from the cache if an earlier call has fetched it in the meantime.
    #[task(stack)]
    async fn fetch(&mut self) -> Site {
        let Some((patch, place)) = self.cache else { return Site::default() };
        let patch: Ref<Patch> = patch;
        if let Known::Yes(site) = patch.look(place).await {
            return site;
        }
        patch.ask(place).await;
        let atom: Ref<Atom> = self.atom;
        let site: Site = atom.site().await;
        patch.learn(place, site).await;
        site
    }
}

/// Forces to add, each with the index of its atom at the receiver.
type Forces = Vec<(u32, Vector)>;

/// The cache's state of one remote atom.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Known {
    /// The atom has been fetched.
    Yes(Site),
    /// The atom has been requested. The number counts the requests before this one.
    Asked(u32),
    /// The atom has not been requested.
    No,
}

/// A node's cache and force sums.
#[derive(Default)]
pub struct Patch {
    /// The node's atoms, by index.
    atoms: Vec<Ref<Atom>>,
    /// The force on each atom of the node, then the contribution to the force on each ghost.
    forces: Vec<Vector>,
    energy: Energy,
    /// The cache entry of each ghost.
    known: Vec<Known>,
    /// Number of atoms that have been requested.
    asked: u32,
    /// Number of rows that have been added.
    added: u32,
    /// Rows that arrived before an earlier row was added: none of their entries had its turn.
    early: BTreeMap<u32, Vec<Entry>>,
    routes: Vec<Route>,
    /// Contributions from other nodes: the sender's number and the forces.
    received: Vec<(u32, Forces)>,
}

/// The ghosts whose atoms are on one node.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Route {
    pub(super) patch: Ref<Patch>,
    /// For each ghost, its index in this patch and its atom's index in the other patch.
    pub(super) places: Vec<(u32, u32)>,
}

#[object]
impl Patch {
    pub(super) fn link(&mut self, (atoms, routes): (Vec<Ref<Atom>>, Vec<Route>)) {
        self.known = vec![Known::No; routes.iter().map(|route| route.places.len()).sum()];
        self.forces = vec![[0.0; 3]; atoms.len() + self.known.len()];
        self.atoms = atoms;
        self.routes = routes;
    }

    /// Clears the cache, since the atoms may have moved.
    fn begin(&mut self) {
        self.known.fill(Known::No);
        self.asked = 0;
        self.restart();
    }

    fn restart(&mut self) {
        self.forces.fill([0.0; 3]);
        self.energy = Energy::default();
        self.added = 0;
        self.early.clear();
        self.received.clear();
    }

    fn look(&self, place: u32) -> Known {
        self.known[place as usize - self.atoms.len()]
    }

    fn ask(&mut self, place: u32) {
        let place = place as usize - self.atoms.len();
        self.known[place] = Known::Asked(self.asked);
        self.asked += 1;
    }

    fn learn(&mut self, place: u32, site: Site) {
        let place = place as usize - self.atoms.len();
        self.known[place] = Known::Yes(site);
    }

    /// Returns whether all rows before that of the node's `turn`th atom have been added.
    fn is_turn(&self, turn: u32) -> bool {
        turn == self.added
    }

    /// Adds the reaction to a pair's force, of the atom whose turn it is.
    fn react(&mut self, place: u32, force: Vector) {
        subtract(&mut self.forces[place as usize], force);
    }

    /// Adds the row of the node's `turn`th atom, of which `own` has been counted and `rest` has not, once all earlier
    /// rows have been added.
    fn take(&mut self, turn: u32, own: Sums, rest: Vec<Entry>) {
        if turn != self.added {
            self.early.insert(turn, rest);
            return;
        }
        self.add(own, rest);
        while let Some(rest) = self.early.remove(&self.added) {
            self.add(Sums::default(), rest);
        }
    }

    fn load(&self, route: usize) -> Option<(Ref<Patch>, Forces)> {
        let route = self.routes.get(route)?;
        let load = route.places.iter().map(|&(here, there)| (there, self.forces[here as usize]));
        Some((route.patch, load.collect()))
    }

    fn receive(&mut self, node: u32, forces: Forces) {
        self.received.push((node, forces));
    }

    /// Sends the contributions to the forces on remote atoms: one message to each node.
    #[task(stack)]
    async fn send(this: Ref<Self>) {
        let node: u32 = Ref::node(this) as u32;
        let mut route: usize = 0;
        loop {
            let Some((patch, forces)) = this.load(route).await else { return };
            let patch: Ref<Patch> = patch;
            patch.receive(node, forces).await;
            route += 1;
        }
    }

    fn add_received(&mut self) -> Energy {
        let mut received = std::mem::take(&mut self.received);
        received.sort_by_key(|(node, _)| *node);
        for (place, force) in received.into_iter().flat_map(|(_, forces)| forces) {
            add(&mut self.forces[place as usize], force);
        }
        self.energy
    }

    fn total(&self, turn: usize) -> Option<(Ref<Atom>, Vector)> {
        Some((*self.atoms.get(turn)?, self.forces[turn]))
    }

    /// Adds the contributions of other nodes, and stores the total forces in the atoms. Returns the node's energy.
    #[task(stack)]
    async fn settle(this: Ref<Self>) -> Energy {
        let energy: Energy = this.add_received().await;
        let mut turn: usize = 0;
        loop {
            let Some((atom, force)) = this.total(turn).await else { return energy };
            let atom: Ref<Atom> = atom;
            atom.push(force).await;
            turn += 1;
        }
    }
}

impl Patch {
    fn add(&mut self, mut own: Sums, rest: Vec<Entry>) {
        for entry in rest {
            own.count(&entry);
            subtract(&mut self.forces[entry.place as usize], entry.pull.force);
        }
        add(&mut self.forces[self.added as usize], own.force);
        self.energy += own.energy;
        self.added += 1;
    }
}

/// A system as objects, spread over the nodes of the runtime.
#[derive(Clone)]
pub struct Objects {
    pub(super) atoms: Array<Atom>,
    pub(super) ghosts: Array<Ghost>,
    pub(super) patches: Array<Patch>,
}

/// Computes all forces anew, `iterations` times. Returns the energies of the last iteration.
#[task]
pub async fn evaluate(objects: &Objects, iterations: u32) -> Energy {
    let mut energy: Energy = Energy::default();
    for _ in 0..iterations {
        objects.patches.each(|patch| patch.begin()).await;
        objects.atoms.each(|atom| atom.interact()).await;
        objects.patches.each(|patch| patch.send()).await;
        let energies: Vec<Energy> = objects.patches.each(|patch| patch.settle()).await;
        energy = Energy::default();
        energies.into_iter().for_each(|part| energy += part);
    }
    energy
}

/// Returns the forces of the last evaluation, in kJ/mol/nm.
#[task]
pub async fn forces(objects: &Objects) -> Vec<Vector> {
    objects.atoms.each(|atom| atom.force()).await
}

/// Drops the objects.
#[task]
pub async fn free(objects: &Objects) {
    objects.atoms.free().await;
    objects.ghosts.free().await;
    objects.patches.free().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdforce::{Layout, Locality, Pairs, create, t4};
    use finespun::testing::*;
    use std::time::Duration;

    #[task]
    async fn interact_all(objects: &Objects) {
        objects.atoms.each(|atom| atom.interact()).await;
    }

    #[task]
    async fn restart(objects: &Objects) {
        objects.patches.each(|patch| patch.restart()).await;
    }

    /// Section 4.3.2 of the paper: calls to local and cached atoms complete on the stack; only the others fall back.
    #[test]
    fn only_rows_that_wait_for_coordinates_become_frames() {
        let system = t4().first(500);
        let pairs = Pairs::new(&system, 0.8);
        for (layout, nodes) in [(Layout::Spatial, 1), (Layout::Spatial, 4), (Layout::Random, 4)] {
            let homes = layout.nodes(&system, nodes);
            let locality = Locality::of(&pairs, &homes);
            // However slow the build is, no row is preempted.
            let quantum = Duration::from_secs(600);
            let runtime = Runtime::builder().workers(1).nodes(nodes).quantum(quantum).build().expect("a runtime");
            let objects = runtime.run(create(&system, &pairs, &homes));
            let fallbacks = || {
                runtime.run(restart(&objects));
                let before = runtime.stats().fallbacks;
                runtime.run(interact_all(&objects));
                runtime.stats().fallbacks - before
            };
            let (cold, warm) = (fallbacks(), fallbacks());
            // On several nodes the driver, its call of the array, and the array's loop over the nodes wait for the
            // other nodes.
            let drivers = if nodes == 1 { 0 } else { 3 };
            assert_eq!(warm, drivers, "{layout:?}, {nodes} nodes: all is in the cache");
            // Each copy is fetched once, and each row with remote partners falls back once; each counts twice, since
            // the frame of the object's lock falls back as well. In addition, a few rows wait in a queue for another
            // row's fetch.
            let remote = |atom: usize| pairs.of(atom).iter().any(|other| homes[other.atom as usize] != homes[atom]);
            let rows = (0..homes.len()).filter(|&atom| remote(atom)).count() as u64;
            let least = 2 * locality.copies + drivers;
            assert!(cold >= least && cold <= least + 3 * rows, "{layout:?}, {nodes}: {cold}, {rows}, {locality:?}");
            runtime.run(free(&objects));
            assert_eq!(runtime.close(), 0);
        }
    }
}
