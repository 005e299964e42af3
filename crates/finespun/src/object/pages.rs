//! Pages of objects: what makes every name that exists in this process safe to look up, and unique.
//!
//! The lower half of each node's region ([`space`](super::space)) is divided into pages. A page is *bound* to a class, at the
//! same number in the regions of all nodes of all runtimes of the process, and for ever. So the places in it at which
//! objects of that class begin hold words of such objects, or zeros, in every region: no name ever leads into the middle of
//! another object, even if it is looked up at another node or in another runtime.
//!
//! A node of a runtime *claims* the pages in which it creates objects. While it has a page, no other runtime of this process
//! uses that page at this node number. When the runtime ends, the page's next user continues with the next generation. So
//! no two objects of a process have the same name, and the comparison that detects the reference of a freed object as stale
//! detects another runtime's reference too.
//!
//! Generations of a place are never used again: after the last one the place stays empty, and the memory of a page with
//! such places only is given back. So a process can create about 2^43 objects of 32 bytes at each node number in its life.
//!
//! Bytes contain a name with the object's *number* in its class: pages of a class are numbered in the
//! order in which this process has bound them. The name of an object in another process has its number as the place, in the
//! upper half of the region.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::class::{Class, Slots};
use super::reference::{GENERATIONS, GRANULE, Name};
use super::space;
pub(super) use super::space::{MOST_PAGES, PAGE};
use crate::process::ProcessMutex;

/// The number of units in which places are counted, in a page.
pub(super) const UNITS: u32 = (PAGE / 8) as u32;

/// The pages of a class, in the order of their binding. Entries are added, and never change.
#[derive(Debug)]
pub(super) struct Pages {
    /// Block n has 2^n entries. A page number; 0 for none, since page 0 is bound to no class.
    blocks: [OnceLock<Box<[AtomicU32]>>; MOST_PAGES.ilog2() as usize + 1],
    count: AtomicU32,
}

/// The class of each bound page in the upper half, and its index among the class's pages in the lower half.
static BOUND: [AtomicU64; MOST_PAGES] = [const { AtomicU64::new(0) }; MOST_PAGES];

/// What this process knows of the pages at all node numbers.
static CLAIMS: ProcessMutex<Claims> = ProcessMutex::new(Claims { bound: 0, nodes: None });

struct Claims {
    /// The number of bound pages.
    bound: usize,
    /// The pages of each node number, by page number.
    nodes: Option<HashMap<u32, Vec<Claim>>>,
}

/// One page at one node number.
#[derive(Clone, Copy, Default)]
struct Claim {
    /// A runtime has the page.
    taken: bool,
    /// The generation with which the next user of the page begins, less 1.
    used: u16,
}

impl Pages {
    pub(super) const fn new() -> Pages {
        Pages { blocks: [const { OnceLock::new() }; _], count: AtomicU32::new(0) }
    }

    /// Returns the page number of the class's page with an index.
    fn get(&self, index: u32) -> Option<NonZeroU32> {
        let (block, at) = position(index);
        // Acquire: pairs with the Release in `push`, so that what is in `BOUND` is seen.
        NonZeroU32::new(self.blocks.get(block)?.get()?[at].load(Ordering::Acquire))
    }

    /// Appends a page. Returns its index. The caller holds the lock of `CLAIMS`.
    fn push(&self, page: u32) -> u32 {
        // Relaxed: under the lock.
        let index = self.count.fetch_add(1, Ordering::Relaxed);
        let (block, at) = position(index);
        let entries = self.blocks[block].get_or_init(|| (0..1 << block).map(|_| AtomicU32::new(0)).collect());
        entries[at].store(page, Ordering::Release);
        index
    }
}

/// Returns the block of an index, and the position in the block.
fn position(index: u32) -> (usize, usize) {
    let block = (index + 1).ilog2();
    (block as usize, (index + 1 - (1 << block)) as usize)
}

/// A page that a node of a runtime has claimed.
pub(super) struct Claimed {
    /// The index of the page in its class.
    pub(super) index: u32,
    /// The number of the page.
    pub(super) page: u32,
    /// The first generation of objects in the page.
    pub(super) generation: u32,
}

/// Claims a page of a class at a node number, with at least this index among the class's pages. Binds a page if no bound
/// one is free. Returns `None` if there is no room.
pub(super) fn claim(class: &'static Class, node: u32, from: u32) -> Option<Claimed> {
    let mut claims = CLAIMS.lock();
    let claims = &mut *claims;
    let pages = claims.nodes.get_or_insert_default().entry(node).or_default();
    for index in from.. {
        let page = match class.pages.get(index) {
            Some(page) => page.get(),
            None => {
                let page = claims.bound + 1;
                if page >= space::half() / PAGE {
                    return None;
                }
                claims.bound = page;
                // Relaxed: `push` publishes it.
                let next = class.pages.count.load(Ordering::Relaxed);
                BOUND[page].store(u64::from(class.number) << 32 | u64::from(next), Ordering::Relaxed);
                class.pages.push(page as u32);
                page as u32
            }
        };
        if pages.len() <= page as usize {
            pages.resize(page as usize + 1, Claim::default());
        }
        let claim = &mut pages[page as usize];
        if !claim.taken && u32::from(claim.used) < GENERATIONS {
            claim.taken = true;
            return Some(Claimed { index, page, generation: u32::from(claim.used) + 1 });
        }
    }
    None
}

/// Ends a claim. `last` is the last generation of an object in the page.
pub(super) fn release(node: u32, page: u32, last: u32) {
    let mut claims = CLAIMS.lock();
    if let Some(claim) = claims.nodes.as_mut().and_then(|nodes| nodes.get_mut(&node)?.get_mut(page as usize)) {
        *claim = Claim { taken: false, used: last as u16 };
    }
}

/// Returns whether a runtime of this process has or had the page of a name at the name's node number.
fn was_claimed(page: u32, node: u32) -> bool {
    let claims = CLAIMS.lock();
    let claim = claims.nodes.as_ref().and_then(|nodes| nodes.get(&node)?.get(page as usize));
    claim.is_some_and(|claim| claim.taken || claim.used > 0)
}

/// Returns the class of a bound page, and its index among the pages of the class.
fn bound(page: u32) -> (u32, u32) {
    // Relaxed: a thread that has a name with this page has seen it bound.
    let bound = BOUND.get(page as usize).map_or(0, |bound| bound.load(Ordering::Relaxed));
    ((bound >> 32) as u32, bound as u32)
}

/// Returns the number of the class of a name, if its object is in this process.
pub(super) fn class_here(name: Name) -> Option<u32> {
    Some(bound(page_of(name.place())).0).filter(|&class| class > 0)
}

/// Returns the class of a name of an object in this process.
pub(super) fn class_of(name: Name) -> &'static Class {
    Class::numbered(bound(page_of(name.place())).0)
}

/// Returns the index of a page in its class.
pub(super) fn index(page: u32) -> u32 {
    bound(page).1
}

/// Returns the place of the first object in a page.
pub(super) fn first_place(page: u32) -> u32 {
    page * UNITS
}

/// Returns the page of a place in the lower half.
pub(super) fn page_of(place: u32) -> u32 {
    place / UNITS
}

/// Returns the number of an object in its class.
pub(super) fn number(name: Name) -> u32 {
    let upper = (space::half() / 8) as u32;
    if name.place() >= upper {
        return (name.place() - upper) / GRANULE;
    }
    let (class, index) = bound(page_of(name.place()));
    let slots = Class::numbered(class).slots();
    index * slots.count + slots.slot(name.place())
}

/// Returns the name of the object with a number. `hosted` says whether a runtime of this process has its node; if it is not
/// known, an object that may be in this process is taken to be. `None` if no name can have this number.
pub(super) fn name(
    class: &'static Class,
    node: u32,
    generation: u32,
    number: u32,
    hosted: Option<bool>,
) -> Option<Name> {
    let near = |slots: &Slots| {
        let page = class.pages.get(number / slots.count)?.get();
        let hosted = hosted.unwrap_or_else(|| was_claimed(page, node));
        hosted.then(|| first_place(page) + number % slots.count * slots.units)
    };
    let place = match class.slots.get().and_then(near) {
        Some(place) => place,
        None => {
            let far = u64::from(number) * u64::from(GRANULE);
            let upper = (space::half() / 8) as u64;
            u32::try_from(upper + far).ok().filter(|_| far < upper)?
        }
    };
    (generation > 0).then(|| Name::new(node, generation, place))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_index_once() {
        let mut seen = std::collections::HashSet::new();
        for index in 0..1000 {
            let (block, at) = position(index);
            assert!(at < 1 << block, "{index}");
            assert!(seen.insert((block, at)), "{index}");
        }
    }
}
