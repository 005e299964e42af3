//! The frame of a closure: a header that says whose it is, and the arguments.
//!
//! ```text
//!   +--------------------------------------+-------------+--------+--------+----------------+-----------+
//!   | header of a frame: dropped holes,    | computation | number | length | the arguments  | elements  |
//!   | table, missing arguments, group      |             |        |        | but a vector   | of it     |
//!   +--------------------------------------+-------------+--------+--------+----------------+-----------+
//! ```
//!
//! How its holes are filled stands in [`holes`](super::holes).

use std::alloc::Layout;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;

use crate::task::context::{Cx, try_cx};
use crate::task::frame::{FrameRef, Header, ThreadTable, Types, VTable};
use crate::task::pool::Class;
use crate::task::slot::{Join, Slot};

use super::argument::{Elements, Parameters, Supplies, Supply};
use super::computation::Computation;
use super::holes::{destroy, post, take_dropped};
use super::session;
use super::tail::{Memory, Tail};
use super::thread::Thread;

/// What every closure begins with.
#[repr(C)]
pub(super) struct Head {
    pub(super) header: Header,
    pub(super) computation: &'static Computation,
    /// The number of the computation.
    pub(super) number: u64,
}

#[repr(C)]
struct Frame<Th: Thread> {
    head: Head,
    length: <Th::Tail as Tail>::Length,
    fixed: MaybeUninit<Th::Fixed>,
}

/// The head of a closure.
///
/// # Safety
/// `closure` is a live closure.
#[inline(always)]
pub(super) unsafe fn head<'a>(closure: FrameRef) -> &'a Head {
    // SAFETY: by the caller's word.
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
        told: None,
        inner: false,
        thread: Some(&ThreadTable { run: Self::run, destroy: Self::destroy, argument: Self::argument }),
    };

    /// Where the elements of the tail are.
    const ELEMENTS: usize = mem::size_of::<Self>().next_multiple_of(<Th::Tail as Tail>::ALIGN);

    /// The memory of a closure with so many elements.
    #[inline(always)]
    fn class(length: <Th::Tail as Tail>::Length) -> Class {
        match Th::Tail::bytes(length) {
            // Without elements there is still a place for them, which is aligned as they are.
            0 if <Th::Tail as Tail>::ALIGN <= mem::align_of::<Self>() => const { Class::of(Layout::new::<Self>()) },
            bytes => {
                let align = mem::align_of::<Self>().max(<Th::Tail as Tail>::ALIGN);
                match Layout::from_size_align(Self::ELEMENTS.saturating_add(bytes), align) {
                    Ok(layout) => Class::of(layout.pad_to_align()),
                    Err(_) => panic!("a vector in a closure of `{}` is larger than the address space", Th::NAME),
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn fixed(closure: FrameRef) -> NonNull<Th::Fixed> {
        // SAFETY: within the closure.
        unsafe { closure.cast::<u8>().add(mem::offset_of!(Self, fixed)).cast() }
    }

    #[inline(always)]
    unsafe fn elements(closure: FrameRef) -> NonNull<u8> {
        // SAFETY: within the closure, or one past its end.
        unsafe { closure.cast::<u8>().add(Self::ELEMENTS) }
    }

    #[inline(always)]
    unsafe fn length(closure: FrameRef) -> <Th::Tail as Tail>::Length {
        // SAFETY: a live closure of this thread.
        unsafe { closure.cast::<Self>().as_ref() }.length
    }

    /// Memory for a closure of the current computation, with its head.
    #[inline(always)]
    fn begin(cx: Cx, length: <Th::Tail as Tail>::Length) -> FrameRef {
        let threads = &cx.context().threads;
        // SAFETY: null, or a record, which is never freed.
        let Some(computation) = (unsafe { threads.computation.get().cast::<Computation>().as_ref() }) else {
            outside()
        };
        // What may panic comes before the memory: a block without a header is nothing that a sweep may find.
        let (class, group) = (Self::class(length), cx.group());
        let closure = cx.context().pool().allocate(class);
        let header = Header { slot: Slot::new(), vtable: Self::VTABLE, join: Join::new(0), group };
        let head = Head { header, computation, number: threads.number.get() };
        // SAFETY: fresh memory of this layout; the arguments are not there yet.
        unsafe {
            let frame = closure.cast::<Self>().as_ptr();
            (&raw mut (*frame).head).write(head);
            (&raw mut (*frame).length).write(length);
        }
        closure
    }

    /// The thread, on the closure's arguments.
    unsafe fn run(closure: FrameRef) {
        // SAFETY: a full closure: all arguments are there, and are moved out once.
        let (fixed, length) = unsafe { (Self::fixed(closure).read(), Self::length(closure)) };
        // SAFETY: as above; the tail owns the closure's memory from here on, if it has elements.
        let tail = unsafe {
            let memory = Memory::of(closure, Self::class(length));
            Th::Tail::take(memory, Self::elements(closure), length)
        };
        Th::enter(fixed, tail);
    }

    unsafe fn destroy(closure: FrameRef) {
        // SAFETY: the caller has the closure alone.
        let dropped = unsafe { take_dropped(closure) };
        // SAFETY: as above; arguments that were given or sent are there, and are destroyed once.
        unsafe {
            let length = Self::length(closure);
            // Also if a destructor panics.
            let _memory = Memory::of(closure, Self::class(length));
            Th::Tail::destroy(Self::elements(closure), Self::ELEMENTS, length, &dropped);
            Th::Fixed::destroy(Self::fixed(closure).cast(), mem::offset_of!(Self, fixed), &dropped);
        }
    }

    fn argument(offset: usize, size: usize) -> String {
        let name = |index: usize| Th::PARAMETERS.get(index).copied().unwrap_or("?");
        let place = match offset.checked_sub(Self::ELEMENTS).filter(|_| Th::Tail::IS_VECTOR) {
            Some(element) => format!("{}[{}]", name(Th::PARAMETERS.len().saturating_sub(1)), Th::Tail::index(element)),
            None => name(Th::Fixed::index(offset - mem::offset_of!(Self, fixed), size)).to_owned(),
        };
        format!("the argument `{place}` of `{}`", Th::NAME)
    }
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

/// A full closure that has not been posted: to be [`post`](super::post)ed.
///
/// Dropping it destroys its arguments, the continuations among them, and with these the closures that wait for them.
#[must_use = "a closure that is not posted never runs"]
pub struct Closure<Th: Thread> {
    closure: FrameRef,
    thread: PhantomData<Th>,
}

// SAFETY: the arguments of a thread are `Send`, and nobody else has the closure.
unsafe impl<Th: Thread> Send for Closure<Th> {}
// SAFETY: a shared one offers nothing but what is known at compile time.
unsafe impl<Th: Thread> Sync for Closure<Th> {}

impl<Th: Thread> Closure<Th> {
    /// Whether all arguments can travel to other processes: the closure may migrate to one.
    pub const fn migrates(&self) -> bool {
        Th::MIGRATES
    }

    /// The frame, which stands for the closure.
    pub(super) fn into_frame(self) -> FrameRef {
        ManuallyDrop::new(self).closure
    }

    /// The elements of the vector, to be written before the closure is posted.
    pub fn vector(&mut self) -> &mut [<Th::Tail as Tail>::Element] {
        // SAFETY: full: the elements are there, and the closure is ours.
        unsafe {
            let length = Frame::<Th>::length(self.closure);
            Th::Tail::slice(Frame::<Th>::elements(self.closure), length)
        }
    }
}

impl<Th: Thread> Drop for Closure<Th> {
    fn drop(&mut self) {
        // SAFETY: ours alone.
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
/// Outside a computation; with the panic of an iterator that supplies the vector's elements; if the run has been ended since it
/// has taken too much memory.
#[inline(always)]
pub(super) fn make<Th, S, E>(supplies: S, elements: E) -> Made<Th, S::Gives, <E::Ready as Supply<Th::Tail>>::Gives>
where
    Th: Thread,
    S: Supplies<Th::Fixed>,
    E: Elements<Th::Tail>,
{
    // Not on a worker, there is no computation either.
    let Some(cx) = try_cx() else { outside() };
    cx.check_exhausted();
    let elements = elements.ready();
    let length = elements.length();
    let Ok(missing) = u32::try_from(supplies.holes().saturating_add(elements.holes())) else { too_many::<Th>() };
    let closure = Frame::<Th>::begin(cx, length);
    // If an iterator panics, that is all there is to be given back.
    // SAFETY: made for that length.
    let memory = unsafe { Memory::of(closure, Frame::<Th>::class(length)) };
    // SAFETY: the place of as many elements.
    let each = unsafe { elements.supply(closure, Frame::<Th>::elements(closure)) };
    mem::forget(memory);
    // SAFETY: the place of the arguments.
    let gives = unsafe { supplies.supply(closure, Frame::<Th>::fixed(closure)) };
    // SAFETY: nobody knows the closure but those continuations that this returns.
    unsafe { head(closure) }.header.join.set(missing);
    Made { closure, gives, each, missing, thread: PhantomData }
}

/// A closure that has just been made, and what its holes give.
pub struct Made<Th: Thread, G, E> {
    closure: FrameRef,
    gives: G,
    each: E,
    missing: u32,
    thread: PhantomData<Th>,
}

impl<Th: Thread, G, E> Made<Th, G, E> {
    /// It has holes by its form: their continuations. If there are none after all, it is posted.
    #[inline(always)]
    pub fn with_holes(self) -> (G, E) {
        if self.missing == 0 {
            // SAFETY: just made, and nobody else knows it.
            unsafe { post(self.closure) };
        }
        (self.gives, self.each)
    }

    /// It has none by its form.
    #[inline(always)]
    pub fn full(self) -> Closure<Th> {
        assert_eq!(self.missing, 0, "a closure of which all arguments are given");
        Closure { closure: self.closure, thread: PhantomData }
    }
}
