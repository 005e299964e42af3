//! What a node knows of write-once arrays: for each a line that every access looks at, and the array itself behind it.
//!
//! An array has the same number on all nodes, so its handle names the line by its distance from the first one: a get is a
//! load at a known place, a comparison with the handle, and a comparison of the index with what is there.

use std::alloc::{self, Layout};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::Location;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::observe::CacheChoice;
use crate::sched::team::Waits;
use crate::task::context::Cx;
use crate::task::frame::{Payload, quietly};

/// How many arrays a runtime can have at a time.
pub(crate) const MOST: usize = 4096;

/// What every access to an array looks at; zero if there is none of this number.
#[repr(C, align(64))]
pub(crate) struct Seat {
    /// The array's, as handles have it: its generation, and below that the distance of this line from the first.
    pub(crate) word: Cell<u64>,
    /// The first index here; [`NOWHERE`] if the indices here do not follow each other.
    pub(crate) first: Cell<usize>,
    /// The index up to which all have been written.
    pub(crate) end: Cell<usize>,
    /// The index behind the last one here.
    pub(crate) limit: Cell<usize>,
    /// Who may write the next one without a look at anything else; null if nobody may.
    pub(crate) writer: Cell<*const Location<'static>>,
    /// The element at index 0, if it were here.
    pub(crate) elements: Cell<*mut ()>,
    /// The other nodes' elements that are here, a `Directory`.
    pub(crate) directory: Cell<*const ()>,
    /// What is behind the line, a `Kept`'s own.
    pub(crate) kept: Cell<*const ()>,
}

const _: () = assert!(size_of::<Seat>() == 64);

/// The first index where indices do not follow each other: no index is as large, or lies between it and what is behind it.
pub(crate) const NOWHERE: usize = usize::MAX;

impl Seat {
    /// How many elements here have been written in the order of their places.
    pub(crate) fn ready(&self) -> usize {
        self.end.get().wrapping_sub(self.first.get())
    }

    pub(crate) fn set_ready(&self, count: usize) {
        self.end.set(self.first.get().wrapping_add(count));
    }

    /// The next element is not written without a look at everything.
    pub(crate) fn close(&self) {
        self.writer.set(ptr::null());
    }
}

/// What a node has of an array, whatever its elements.
pub(crate) trait Kept: Any {
    /// What leaves wait for here.
    fn tell_waits(&self, waits: &mut Waits);

    /// It leaves its line.
    fn leaves(&self, seat: &Seat);

    /// The program has freed it: whoever waits here is told so.
    fn freed(&self);

    /// What its cache has decided, if it decides for itself.
    fn choice(&self) -> Option<CacheChoice> {
        None
    }
}

/// The lines of a node that has no arrays: all zero.
static NONE: Nothing = Nothing([const { AtomicU64::new(0) }; MOST * size_of::<Seat>() / 8]);

#[repr(C, align(64))]
struct Nothing([AtomicU64; MOST * size_of::<Seat>() / 8]);

/// The arrays of a node.
pub(crate) struct Seats {
    /// The first line; that of [`NONE`] as long as there have not been any arrays.
    lines: Cell<*mut Seat>,
    kept: RefCell<Vec<Option<Rc<dyn Kept>>>>,
    numbers: Numbers,
}

/// Which numbers arrays have: node 0 knows.
struct Numbers {
    used: Cell<usize>,
    /// Those that are free again.
    spare: RefCell<Vec<usize>>,
    /// Of which arrays how many nodes are still to make or to end them, and what is done then.
    out: RefCell<HashMap<u64, Out>>,
}

struct Out {
    nodes: u32,
    /// What the first of them complains about that cannot.
    refused: Option<Payload>,
    then: Then,
}

/// What is done when all nodes have done something.
pub(crate) type Then = Box<dyn FnOnce(Cx, Option<Payload>)>;

/// What no array is called, now or later: its generation is not given out.
pub(crate) const NO_ARRAY: u64 = (u32::MAX as u64) << 32;

/// The last generation given out in this process: no two of its arrays have the same word.
static GENERATION: AtomicU32 = AtomicU32::new(0);

impl Seats {
    pub(crate) fn new() -> Seats {
        Seats {
            lines: Cell::new(Seats::none()),
            kept: RefCell::new(Vec::new()),
            numbers: Numbers { used: Cell::new(0), spare: RefCell::default(), out: RefCell::default() },
        }
    }

    /// The first line. Nothing is written by way of this to a node's that has no arrays: no handle fits.
    #[inline(always)]
    pub(crate) fn lines(&self) -> *const Seat {
        self.lines.get()
    }

    const fn none() -> *mut Seat {
        (&raw const NONE).cast_mut().cast()
    }

    /// The word of a new array; `None` if there are [`MOST`].
    pub(crate) fn give_number(&self) -> Option<u64> {
        let number = self
            .numbers
            .spare
            .borrow_mut()
            .pop()
            .unwrap_or_else(|| self.numbers.used.replace(self.numbers.used.get() + 1));
        if number >= MOST {
            self.numbers.used.set(MOST);
            return None;
        }
        let last = GENERATION.fetch_add(1, Relaxed);
        assert!(last < u32::MAX - 1, "a process makes 2^32 arrays at most");
        Some(word(last + 1, number))
    }

    /// The number of an array that no node knows any more.
    pub(crate) fn take_number(&self, word: u64) {
        self.numbers.spare.borrow_mut().push(number(word));
    }

    /// When so many nodes have done something, do `then`.
    pub(crate) fn await_others(&self, word: u64, nodes: u32, then: Then) {
        let before = self.numbers.out.borrow_mut().insert(word, Out { nodes, refused: None, then });
        debug_assert!(before.is_none(), "an array is made, and then ended");
    }

    /// One of them has; what is to be done if it is the last.
    pub(crate) fn reached(&self, word: u64, refused: Option<Payload>) -> Option<(Then, Option<Payload>)> {
        let mut out = self.numbers.out.borrow_mut();
        let known = out.get_mut(&word)?;
        known.nodes -= 1;
        known.refused = known.refused.take().or(refused);
        if known.nodes > 0 {
            return None;
        }
        out.remove(&word).map(|known| (known.then, known.refused))
    }

    /// Adds an array.
    pub(crate) fn add(&self, word: u64, kept: Rc<dyn Kept>) -> &Seat {
        if self.lines.get() == Seats::none() {
            // Zero pages, of which only those that are used are ever there.
            // SAFETY: not of size zero.
            let lines = unsafe { alloc::alloc_zeroed(Seats::layout()) };
            if lines.is_null() {
                alloc::handle_alloc_error(Seats::layout());
            }
            self.lines.set(lines.cast());
        }
        let number = number(word);
        let mut all = self.kept.borrow_mut();
        if all.len() <= number {
            all.resize_with(number + 1, || None);
        }
        assert!(all[number].is_none(), "a number is one array's");
        // SAFETY: a line of this node's; they are as many, and valid when zero.
        let seat = unsafe { &*self.lines.get().add(number) };
        seat.word.set(word);
        seat.kept.set(Rc::as_ptr(&kept).cast());
        all[number] = Some(kept);
        seat
    }

    /// Takes an array away, if it is here.
    pub(crate) fn remove(&self, word: u64) -> Option<Rc<dyn Kept>> {
        // SAFETY: there are that many lines.
        let seat = unsafe { &*self.lines().add(number(word)) };
        if seat.word.get() != word {
            return None;
        }
        self.clear(number(word))
    }

    fn clear(&self, number: usize) -> Option<Rc<dyn Kept>> {
        let kept = self.kept.borrow_mut().get_mut(number)?.take()?;
        // SAFETY: it has been added, so the lines are this node's own.
        let line = unsafe { self.lines.get().add(number) };
        // SAFETY: as above; nobody else has it meanwhile.
        kept.leaves(unsafe { &*line });
        // SAFETY: as above; all zero is a line.
        unsafe { line.write_bytes(0, 1) };
        Some(kept)
    }

    /// What there is of an array.
    pub(crate) fn find(&self, word: u64) -> Option<&Seat> {
        // SAFETY: there are that many lines.
        let seat = unsafe { &*self.lines().add(number(word)) };
        (seat.word.get() == word).then_some(seat)
    }

    /// What is behind an array's line.
    pub(crate) fn kept(&self, word: u64) -> Option<Rc<dyn Kept>> {
        self.find(word)?;
        self.kept.borrow().get(number(word))?.clone()
    }

    /// What leaves wait for here.
    pub(crate) fn tell_waits(&self, waits: &mut Waits) {
        self.kept.borrow().iter().flatten().for_each(|kept| kept.tell_waits(waits));
    }

    /// Drops all arrays.
    pub(crate) fn end(&self) {
        let count = self.kept.borrow().len();
        // A destructor's panic has nowhere to go.
        (0..count).for_each(|number| quietly(|| drop(self.clear(number))));
        self.numbers.out.take();
    }

    fn layout() -> Layout {
        Layout::new::<[Seat; MOST]>()
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        if self.lines.get() != Seats::none() {
            // SAFETY: allocated with this layout.
            unsafe { alloc::dealloc(self.lines.get().cast(), Seats::layout()) };
        }
    }
}

/// The word of array `number`.
fn word(generation: u32, number: usize) -> u64 {
    debug_assert!(number < MOST);
    u64::from(generation) << 32 | (number * size_of::<Seat>()) as u64
}

/// The number in an array's word.
fn number(word: u64) -> usize {
    word as u32 as usize / size_of::<Seat>() % MOST
}
