//! The frame of a closure: a header that names its computation, and the arguments.
//!
//! ```text
//!   +--------------------------------------+-------------+--------+--------+----------------+-----------+
//!   | header of a frame: dropped holes,    | computation | stamp  | length | arguments but  | vector's  |
//!   | table, missing arguments, group      |             |        |        | the vector     | elements  |
//!   +--------------------------------------+-------------+--------+--------+----------------+-----------+
//! ```
//!
//! [`holes`](super::holes) describes how the holes are filled.

use std::alloc::Layout;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;

use crate::frame::context::{Cx, closures_cx};
use crate::frame::pool::{Class, GRAIN, MAX_POOLED};
use crate::frame::slot::{Join, Slot};
use crate::frame::{CallTable, FrameRef, Header, Types, VTable};

use super::argument::{Elements, Parameters, Supplies, Supply};
use super::computation::Computation;
use super::holes::{destroy, post, take_dropped};
use super::missing::StampWord;
use super::session;
use super::state::Of;
use super::tail::{Here, Memory, Tail};
use super::thread::Thread;

/// The beginning of every closure.
#[repr(C)]
pub(super) struct Head {
    pub(super) header: Header,
    pub(super) computation: &'static Computation,
    /// Contains the number of the computation.
    pub(super) stamp: StampWord,
}

#[repr(C)]
struct Frame<Th: Thread> {
    head: Head,
    length: <Th::Tail as Tail>::Length,
    fixed: MaybeUninit<Th::Fixed>,
}

/// Returns the head of a closure.
///
/// # Safety
/// `closure` is a live closure.
#[inline(always)]
pub(super) unsafe fn head<'a>(closure: FrameRef) -> &'a Head {
    // SAFETY: the caller guarantees that `closure` is a live closure, which begins with a `Head`.
    unsafe { closure.cast::<Head>().as_ref() }
}

impl<Th: Thread> Frame<Th> {
    const VTABLE: &'static VTable = &VTable {
        cancel: session::cancel,
        types: Types { step: session::run, ..Types::of_result::<()>() },
        class: Class::of(Layout::new::<Self>()),
        spawned: false,
        alone: false,
        name: || Th::NAME,
        home: None,
        leaf: None,
        on_child_complete: None,
        inner: false,
        call: Some(&CallTable { run: Self::run, destroy: Self::destroy, argument: Self::argument }),
        #[cfg(feature = "objects")]
        migrate: if Th::WAYS.is_some() { Some(Self::migrate) } else { None },
        #[cfg(not(feature = "objects"))]
        migrate: None,
    };

    /// Offset of the tail's elements.
    const ELEMENTS: usize = mem::size_of::<Self>().next_multiple_of(<Th::Tail as Tail>::ALIGN);

    /// The most bytes of elements in a block of a pool; `None` if there is no room for any.
    const POOLED: Option<usize> = match Class::of(Layout::new::<Self>()) {
        Class::Pooled(_) if <Th::Tail as Tail>::ALIGN <= GRAIN => MAX_POOLED.checked_sub(Self::ELEMENTS),
        _ => None,
    };

    /// Returns the size class of a closure with `length` elements.
    #[inline(always)]
    fn class(length: <Th::Tail as Tail>::Length) -> Class {
        match (Th::Tail::bytes(length), Self::POOLED) {
            // An empty tail still has a place, which is aligned for its elements.
            (0, _) if <Th::Tail as Tail>::ALIGN <= mem::align_of::<Self>() => {
                const { Class::of(Layout::new::<Self>()) }
            }
            (bytes, Some(most)) if bytes <= most => Class::pooled(Self::ELEMENTS + bytes),
            (bytes, _) => Self::large_class(bytes),
        }
    }

    #[cold]
    fn large_class(bytes: usize) -> Class {
        let align = mem::align_of::<Self>().max(<Th::Tail as Tail>::ALIGN);
        match Layout::from_size_align(Self::ELEMENTS.saturating_add(bytes), align) {
            Ok(layout) => Class::of(layout.pad_to_align()),
            Err(_) => panic!("a vector in a closure of `{}` is larger than the address space", Th::NAME),
        }
    }

    #[inline(always)]
    unsafe fn fixed(closure: FrameRef) -> NonNull<Th::Fixed> {
        // SAFETY: the offset is within the closure.
        unsafe { closure.cast::<u8>().add(mem::offset_of!(Self, fixed)).cast() }
    }

    #[inline(always)]
    unsafe fn elements(closure: FrameRef) -> NonNull<u8> {
        // SAFETY: the offset is within the closure, or one past its end.
        unsafe { closure.cast::<u8>().add(Self::ELEMENTS) }
    }

    #[inline(always)]
    unsafe fn length(closure: FrameRef) -> <Th::Tail as Tail>::Length {
        // SAFETY: the caller guarantees a live closure of this thread.
        unsafe { closure.cast::<Self>().as_ref() }.length
    }

    /// Allocates a closure of the current computation, and writes its head.
    ///
    /// # Safety
    /// The worker runs closures.
    #[inline(always)]
    unsafe fn begin(cx: Cx, length: <Th::Tail as Tail>::Length) -> FrameRef {
        // Everything that may panic comes before the allocation: a sweep must not find a block without a header.
        let class = Self::class(length);
        let closure = match (cx.core().pool().take_free(class), class) {
            (Some(closure), _) => closure,
            (None, Class::Pooled(index)) => allocate_more(cx, index),
            (None, Class::Large(_)) => cx.core().pool().allocate(class),
        };
        let header =
            Header { slot: Slot::new(), vtable: Self::VTABLE, join: Join::new(0), group: cx.session().group.get() };
        // SAFETY: the caller guarantees it.
        let Of { computation, stamp } = unsafe { cx.own_computation() };
        let head = Head { header, computation, stamp: StampWord::new(stamp) };
        // SAFETY: fresh memory of this layout; the arguments are still uninitialized.
        unsafe {
            let frame = closure.cast::<Self>().as_ptr();
            (&raw mut (*frame).head).write(head);
            (&raw mut (*frame).length).write(length);
        }
        closure
    }

    /// Moves the arguments out of a closure, and frees it.
    ///
    /// # Safety
    /// The caller has exclusive access to the full closure, and `cx` is the current worker.
    #[inline(always)]
    unsafe fn take(closure: FrameRef, cx: Cx) -> (Th::Fixed, Th::Tail) {
        // SAFETY: the closure is full, so all arguments are initialized; they are moved out once.
        let (fixed, length) = unsafe { (Self::fixed(closure).read(), Self::length(closure)) };
        // SAFETY: as above; from here on the tail owns the closure's memory, if it has elements.
        let tail = unsafe {
            let class = Self::class(length);
            Th::Tail::take(Memory::of(closure, class), Here(cx, class), Self::elements(closure), length)
        };
        (fixed, tail)
    }

    /// Runs the thread on the closure's arguments.
    unsafe fn run(closure: FrameRef, cx: Cx) {
        // SAFETY: the caller guarantees exclusive access to the full closure, and that `cx` is the current worker.
        let (fixed, tail) = unsafe { Self::take(closure, cx) };
        Th::enter(fixed, tail);
    }

    /// Implements [`VTable::migrate`]. Other processes do not have a value that the threads share.
    #[cfg(feature = "objects")]
    unsafe fn migrate(closure: FrameRef, cx: Cx, to: u32) -> usize {
        // SAFETY: the caller guarantees a ready closure, which is live.
        let computation = unsafe { head(closure) }.computation;
        // SAFETY: the closure is active during this call.
        let shared = unsafe { computation.shared() };
        let shares = shared.is_some_and(|shared| shared.get::<super::migrate::Waiting>().is_none());
        let Some(ways) = Th::WAYS.filter(|_| !shares && !computation.is_stopped()) else { return 0 };
        // SAFETY: the closure is full, and the caller alone has it.
        let arguments = unsafe { Self::take(closure, cx) };
        // No session ends afterwards.
        cx.core().pool().return_foreign();
        super::migrate::send::<Th>(cx, computation, to, ways, arguments);
        1
    }

    unsafe fn destroy(closure: FrameRef) {
        // SAFETY: the caller guarantees exclusive access to the live closure.
        let dropped = unsafe { take_dropped(closure) };
        // SAFETY: exclusive access, as above; arguments that were given or sent are initialized, and are destroyed
        // once.
        unsafe {
            let length = Self::length(closure);
            // Frees the memory even if a destructor panics.
            let _memory = Memory::of(closure, Self::class(length));
            Th::Tail::destroy(Self::elements(closure), Self::ELEMENTS, length, &dropped);
            Th::Fixed::destroy(Self::fixed(closure).cast(), mem::offset_of!(Self, fixed), &dropped);
        }
    }

    fn argument(offset: usize, size: usize) -> Option<String> {
        if Th::PARAMETERS.is_empty() {
            // Of the library.
            return None;
        }
        let name = |index: usize| Th::PARAMETERS.get(index).copied().unwrap_or("?");
        let place = match offset.checked_sub(Self::ELEMENTS).filter(|_| Th::Tail::IS_VECTOR) {
            Some(element) => format!("{}[{}]", name(Th::PARAMETERS.len().saturating_sub(1)), Th::Tail::index(element)),
            None => name(Th::Fixed::index(offset - mem::offset_of!(Self, fixed), size)).to_owned(),
        };
        Some(format!("the argument `{place}` of `{}`", Th::NAME))
    }
}

/// Allocates memory for a closure that the free list does not have.
#[cold]
#[inline(never)]
fn allocate_more(cx: Cx, index: u8) -> FrameRef {
    cx.core().pool().allocate(Class::Pooled(index))
}

/// Ends a thread that makes closures without end, if its run has used too much memory.
#[cold]
#[inline(never)]
fn tripped(cx: Cx) {
    cx.check_exhausted();
}

#[cold]
#[inline(never)]
fn outside() -> ! {
    panic!("a closure was made outside a computation: make the first ones in the body of `closure::top`")
}

#[cold]
#[inline(never)]
fn too_many<Th: Thread>() -> ! {
    panic!("a closure of `{}` misses more than 2^32 - 1 arguments", Th::NAME)
}

/// A full closure that has not been posted yet: pass it to [`post`](super::post).
///
/// Dropping it destroys its arguments. Dropped continuations among them destroy the closures that wait for them.
#[must_use = "a closure that is not posted never runs"]
pub struct Closure<Th: Thread> {
    closure: FrameRef,
    thread: PhantomData<Th>,
}

// SAFETY: the arguments of a thread are `Send`, and this handle has exclusive access to the closure.
unsafe impl<Th: Thread> Send for Closure<Th> {}
// SAFETY: a shared handle offers only facts known at compile time.
unsafe impl<Th: Thread> Sync for Closure<Th> {}

impl<Th: Thread> Closure<Th> {
    /// Returns whether the closure may migrate: whether its thread is portable.
    pub const fn migrates(&self) -> bool {
        Th::WAYS.is_some()
    }

    /// Returns the frame of the closure, without destroying it.
    pub(super) fn into_frame(self) -> FrameRef {
        ManuallyDrop::new(self).closure
    }

    /// Returns the elements of the vector, to be written before the closure is posted.
    pub fn vector(&mut self) -> &mut [<Th::Tail as Tail>::Element] {
        // SAFETY: the closure is full, so its elements are initialized, and `self` has exclusive access to them.
        unsafe {
            let length = Frame::<Th>::length(self.closure);
            Th::Tail::slice(Frame::<Th>::elements(self.closure), length)
        }
    }
}

impl<Th: Thread> Drop for Closure<Th> {
    fn drop(&mut self) {
        // SAFETY: `self` has exclusive access to the live closure.
        unsafe { destroy(self.closure) };
    }
}

impl<Th: Thread> std::fmt::Debug for Closure<Th> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Closure").field(&Th::NAME).finish()
    }
}

/// Makes a closure of the current computation.
///
/// # Panics
/// Outside a computation; with the panic of an iterator that supplies the vector's elements; if the run has been ended
/// because it has used too much memory.
#[inline(always)]
pub(super) fn make<Th, S, E>(supplies: S, elements: E) -> Made<Th, S::Gives, <E::Ready as Supply<Th::Tail>>::Gives>
where
    Th: Thread,
    S: Supplies<Th::Fixed>,
    E: Elements<Th::Tail>,
{
    let Some(cx) = closures_cx() else { outside() };
    // Cheaper than to look for exhaustion, which makes the guard trip.
    if cx.trips() {
        tripped(cx);
    }
    let elements = elements.ready();
    let length = elements.length();
    let Ok(missing) = u32::try_from(supplies.holes().saturating_add(elements.holes())) else { too_many::<Th>() };
    // SAFETY: `closures_cx` has returned the worker.
    let closure = unsafe { Frame::<Th>::begin(cx, length) };
    // If an iterator panics, only this memory must be freed: no argument has been written.
    // SAFETY: `begin` has allocated the memory for this length, and no other owner frees it.
    let memory = unsafe { Memory::of(closure, Frame::<Th>::class(length)) };
    // SAFETY: `elements` returns the place for `length` elements, and the closure is being made.
    let each = unsafe { elements.supply(closure, Frame::<Th>::elements(closure)) };
    mem::forget(memory);
    // SAFETY: `fixed` returns the place for the arguments, and the closure is being made.
    let gives = unsafe { supplies.supply(closure, Frame::<Th>::fixed(closure)) };
    // SAFETY: the closure is live, and only the continuations that this function returns refer to it.
    unsafe { head(closure) }.header.join.set(missing);
    Made { closure, gives, each, missing, thread: PhantomData }
}

/// A new closure, and the continuations of its holes.
pub struct Made<Th: Thread, G, E> {
    closure: FrameRef,
    gives: G,
    each: E,
    missing: u32,
    thread: PhantomData<Th>,
}

impl<Th: Thread, G, E> Made<Th, G, E> {
    /// Returns the continuations of a closure that has holes by its form. Posts the closure if it turns out to have
    /// none.
    #[inline(always)]
    pub fn with_holes(self) -> (G, E) {
        if self.missing == 0 {
            // SAFETY: the closure is new and full, and no continuation refers to it.
            unsafe { post(self.closure) };
        }
        (self.gives, self.each)
    }

    /// Returns a closure that has no holes by its form.
    #[inline(always)]
    pub fn full(self) -> Closure<Th> {
        assert_eq!(self.missing, 0, "a closure of which all arguments are given");
        Closure { closure: self.closure, thread: PhantomData }
    }
}
