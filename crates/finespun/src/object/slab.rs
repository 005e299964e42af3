//! The slots of one class at one node; some are free.
//!
//! New objects get the free slots with the lowest addresses, 64 neighbouring slots at a time. So objects that are created
//! one after the other lie in this order, also in memory of earlier objects. Slots never move.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use super::class::Class;
use super::pages::{self, Claimed, PAGE};
use super::reference::{GENERATIONS, empty, generation, is_empty};
use super::space;

/// The slots of a class at a node.
pub(super) struct Slab {
    class: &'static Class,
    node: u32,
    /// The beginning of the node's region.
    region: NonNull<u64>,
    /// The slots that are used next, of 64 neighbours: whether each is free.
    next: Cell<u64>,
    /// The place of the first of those neighbours.
    neighbours: Cell<u32>,
    /// The generation of their next objects, if they have not been used; else 0. Reading the words of unused slots would
    /// make the system map their memory twice.
    unused: Cell<u32>,
    pages: RefCell<Pages>,
}

#[derive(Default)]
struct Pages {
    /// In the order of their addresses.
    all: Vec<Page>,
    /// For each page, whether it has a free slot: 64 pages in a word.
    with_free: Vec<u64>,
    /// No page of an earlier word has a free slot.
    lowest: usize,
}

struct Page {
    /// Its index among the pages of the class, and its number.
    index: u32,
    page: u32,
    /// The generation of the first object in each slot.
    first: u32,
    /// The number of slots whose generations are used up.
    used_up: u32,
    /// The number of words of `bits` whose slots have been used.
    used: u32,
    /// No slot of an earlier word of `bits` is free.
    lowest: u32,
    /// For each slot, whether it is free: 64 slots in a word.
    bits: Box<[u64]>,
}

impl Slab {
    /// Creates a slab without slots.
    ///
    /// # Safety
    /// `region` is the region of the node, of which only this worker uses the slots of the class, as long as this lives.
    pub(super) unsafe fn new(class: &'static Class, node: u32, region: NonNull<u64>) -> Slab {
        let (next, neighbours, unused) = (Cell::new(0), Cell::new(0), Cell::new(0));
        Slab { class, node, region, next, neighbours, unused, pages: RefCell::default() }
    }

    pub(super) fn class(&self) -> &'static Class {
        self.class
    }

    /// Returns the word of a slot: 0 if it has not been used.
    fn word(&self, place: u32) -> &Cell<u64> {
        // SAFETY: slots of this class have these places in the region. All bits make a valid word, and only this
        // worker accesses it.
        unsafe { self.region.add(place as usize).cast().as_ref() }
    }

    /// Takes a slot. Returns its place, and the generation of its next object.
    ///
    /// # Panics
    /// If there is no room.
    #[inline]
    pub(super) fn take(&self) -> (u32, u32) {
        if self.next.get() == 0 {
            self.find_slots();
        }
        let next = self.next.get();
        self.next.set(next & (next - 1));
        let place = self.neighbours.get() + next.trailing_zeros() * self.class.slots().units;
        match self.unused.get() {
            0 => (place, generation(self.word(place).get()) + 1),
            first => (place, first),
        }
    }

    /// Finds the free slots with the lowest addresses, up to 64 neighbours.
    #[cold]
    #[inline(never)]
    fn find_slots(&self) {
        let mut pages = self.pages.borrow_mut();
        let pages = &mut *pages;
        let at = match pages.with_free.get(pages.lowest) {
            Some(word) if *word != 0 => pages.lowest * 64 + word.trailing_zeros() as usize,
            _ => self.find_page(pages),
        };
        let page = &mut pages.all[at];
        let words = &mut page.bits[page.lowest as usize..];
        let after = words.iter().position(|&word| word != 0).expect("the page has a free slot");
        self.next.set(std::mem::take(&mut words[after]));
        page.lowest += after as u32;
        self.neighbours.set(pages::first_place(page.page) + page.lowest * 64 * self.class.slots().units);
        self.unused.set(if page.lowest < page.used { 0 } else { page.first });
        page.used = page.used.max(page.lowest + 1);
        if words[after..].iter().all(|&word| word == 0) {
            pages.with_free[at / 64] &= !(1 << (at % 64));
        }
    }

    /// Returns the index of the first page with a free slot, which is added if there is none.
    fn find_page(&self, pages: &mut Pages) -> usize {
        let words = pages.with_free[pages.lowest..].iter();
        if let Some(after) = words.clone().position(|&word| word != 0) {
            pages.lowest += after;
            return pages.lowest * 64 + pages.with_free[pages.lowest].trailing_zeros() as usize;
        }
        let from = pages.all.last().map_or(0, |page| page.index + 1);
        let Some(Claimed { index, page, generation: first }) = pages::claim(self.class, self.node, from) else {
            let (room, most) = (space::half(), space::MOST_BYTES);
            let limited = if room < most { ", less than usual, since its address space is limited" } else { "" };
            panic!(
                "this process has room for {room} bytes of objects at each node{limited}; for each type counts the node that \
                 has ever had the most of it"
            );
        };
        let (at, count) = (pages.all.len(), self.class.slots().count);
        if at * PAGE >= space::LARGE_PAGE {
            space::advise_large_page(NonNull::from(self.word(pages::first_place(page))).cast());
        }
        let bits = (0..count.div_ceil(64)).map(|word| u64::MAX >> (64 - (count - word * 64).min(64))).collect();
        pages.all.push(Page { index, page, first, used_up: 0, used: 0, lowest: 0, bits });
        pages.with_free.resize(at / 64 + 1, 0);
        pages.with_free[at / 64] |= 1 << (at % 64);
        pages.lowest = at / 64;
        at
    }

    /// Gives back a slot, whose word contains the generation of its last object.
    #[inline]
    pub(super) fn give_back(&self, place: u32) {
        let mut pages = self.pages.borrow_mut();
        let pages = &mut *pages;
        let (Some(at), word) = (pages.of(place), self.word(place)) else { return };
        let page = &mut pages.all[at];
        let last = generation(word.get());
        word.set(empty(last));
        if last == GENERATIONS {
            return self.use_up(page);
        }
        let slot = self.class.slots().slot(place);
        page.bits[(slot / 64) as usize] |= 1 << (slot % 64);
        page.lowest = page.lowest.min(slot / 64);
        pages.with_free[at / 64] |= 1 << (at % 64);
        pages.lowest = pages.lowest.min(at / 64);
    }

    /// Counts a slot whose generations are used up. If all of its page are, gives the page's memory back.
    #[cold]
    fn use_up(&self, page: &mut Page) {
        page.used_up += 1;
        if page.used_up == self.class.slots().count {
            let start = self.word(pages::first_place(page.page));
            // SAFETY: no slot of the page contains an object or is free.
            unsafe { space::give_back(NonNull::from(start).cast()) };
        }
    }

    /// Returns the first and the last generation that an object of this runtime has had at a place, if any has.
    pub(super) fn generations(&self, place: u32) -> Option<(u32, u32)> {
        let pages = self.pages.borrow();
        let page = &pages.all[pages.of(place)?];
        let last = match self.word(place).get() {
            0 if page.used_up == self.class.slots().count => GENERATIONS,
            0 => return None,
            word => generation(word),
        };
        Some((page.first, last))
    }

    /// Calls `visit` with the place of every object. It may remove and add objects; it need not see those that it adds.
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32)) {
        let count = self.pages.borrow().all.len();
        for at in 0..count {
            let places = self.places(&self.pages.borrow().all[at]);
            places.filter(|&place| !is_empty(self.word(place).get())).for_each(&mut visit);
        }
    }

    /// Returns the places of a page's slots that have been used, and perhaps of some others.
    fn places(&self, page: &Page) -> impl Iterator<Item = u32> + use<> {
        let (start, slots) = (pages::first_place(page.page), self.class.slots());
        let count = slots.count.min(page.used * 64);
        (start..start + count * slots.units).step_by(slots.units as usize)
    }

    /// Returns the pages to other runtimes. No slot contains an object.
    pub(super) fn end(&self) {
        self.next.set(0);
        for page in self.pages.take().all {
            let words = self.places(&page).map(|place| self.word(place).get());
            let used_up = page.used_up == self.class.slots().count;
            let last = if used_up { GENERATIONS } else { words.map(generation).max().unwrap_or(0) };
            pages::release(self.node, page.page, last.max(page.first - 1));
        }
    }
}

impl Pages {
    /// Returns the index of the page of a place.
    fn of(&self, place: u32) -> Option<usize> {
        let (page, first) = (pages::page_of(place), self.all.first()?);
        // The pages of a class that a node has usually follow each other.
        let guess = pages::index(page).wrapping_sub(first.index) as usize;
        if self.all.get(guess).is_some_and(|guessed| guessed.page == page) {
            return Some(guess);
        }
        self.all.binary_search_by_key(&page, |page| page.page).ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;

    use super::super::class::Class;
    use super::super::reference::{Name, Object, Ref};
    use super::super::space::Space;
    use super::super::table::{LockAttempt, Table};
    use super::*;

    /// An object of which 240 fill a page.
    struct Block([u64; 33]);

    #[repr(transparent)]
    struct NoMethods(Ref<Block>);

    // SAFETY: `NoMethods` is a transparent struct of a reference.
    unsafe impl Object for Block {
        type Methods = NoMethods;
        const NAME: &'static str = "Block";
        const READERS_FIRST: bool = false;
        type Constants = ();
        fn constants(&self) {}
    }

    fn make(table: &Table) -> Name {
        table.insert(Class::of_objects::<Block>(), Block([7; 33]))
    }

    fn destroy(table: &Table, name: Name) {
        match table.hold(name, true) {
            LockAttempt::Held(hold) => table.destroy(hold),
            _ => panic!("the object is free"),
        }
    }

    /// One object at a time uses up page after page; the next user of a page goes on where the last one stopped.
    #[test]
    fn no_name_is_used_twice() {
        let mut names = HashSet::new();
        let mut places = HashSet::new();
        for _ in 0..3 {
            let space = Space::reserve(1, 1).expect("address space");
            // SAFETY: the region is the table's alone, and the space outlives it.
            let table = unsafe { Table::new(1 << 15, space.region(0)) };
            let kept: Vec<Name> = (0..50).map(|_| make(&table)).collect();
            for _ in 0..3 * 240 * GENERATIONS {
                let name = make(&table);
                assert!(names.insert(name.word()), "a name was used twice");
                places.insert(pages::page_of(name.place()));
                destroy(&table, name);
            }
            for name in kept {
                // SAFETY: the name belongs to a `Block`.
                let block = unsafe { table.peek::<Block>(name).expect("it exists").as_ref() };
                assert_eq!(block.0, [7; 33]);
                assert!(names.insert(name.word()), "a name was used twice");
            }
            table.end();
        }
        assert!((9..=13).contains(&places.len()), "{} pages", places.len());
    }
}
