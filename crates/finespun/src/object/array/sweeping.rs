//! The calls of one part's objects, one after the other.

use std::future::Future;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::slice;
use std::sync::Arc;
use std::task::{Context as StdContext, Poll};

use super::super::error::Which;
use super::super::reference::{Object, Ref};
use super::each::{Calls, Swept};
use super::supply::Supply;
use crate::call::call_guarded;
use crate::call::located::Located;
use crate::call::outcome::Child;
use crate::frame::context::{Cx, cx};
use crate::frame::origin::pack;
use crate::frame::{Delivered, FrameRef, Payload, Polled, VTable, cancel};
use crate::iterate::turn::Turn;

/// A body that calls a part's objects. It runs on the stack first, and is in a frame once it has suspended.
pub(super) struct Sweeping<T, S: Supply, C: Calls<T, S::Argument>> {
    part: usize,
    elements: Arc<[Ref<T>]>,
    next: usize,
    args: S,
    calls: C,
    /// Whether the calls free the array. If so, a panic does not stop the remaining calls.
    last: bool,
    /// The values of the leading elements, in order.
    values: Vec<C::Output>,
    /// The values of later elements whose calls have ended, with their indices in the part.
    later: Vec<(usize, C::Output)>,
    /// The suspended calls, with their indices in the part.
    out: Vec<(usize, Child<C::Task>)>,
    turn: Turn,
    /// The first panic.
    panic: Option<Payload>,
}

impl<T, S: Supply, C: Calls<T, S::Argument>> Unpin for Sweeping<T, S, C> {}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Sweeping<T, S, C> {
    pub(super) fn new(part: usize, elements: Arc<[Ref<T>]>, args: S, calls: C, last: bool) -> Sweeping<T, S, C> {
        let values = Vec::with_capacity(elements.len());
        let (later, out) = (Vec::new(), Vec::new());
        Sweeping { part, elements, next: 0, args, calls, last, values, later, out, turn: Turn::NONE, panic: None }
    }

    /// The vtable of the frame. The frame can become ready, to continue its loop, while calls are suspended. So
    /// cancelling it first waits until these calls have ended, then destroys it.
    pub(super) const TABLE: &'static VTable = &VTable { cancel: Self::cancel, ..*Located::<Self>::TABLE };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Polled {
        // SAFETY: the worker loop runs a frame exclusively, and the body exists.
        let sweeping = unsafe { Located::<Self>::body(frame) };
        sweeping.turn = Turn::NONE;
        let out = sweeping.out.iter().filter(|(_, child)| !child.ended());
        if out.inspect(|(_, child)| cx.wait_for(child.frame())).count() > 0 {
            return Poll::Pending;
        }
        // SAFETY: the body exists, this worker alone runs the frame, and no call is suspended.
        unsafe { cancel(frame, cx) }
    }

    /// Calls the remaining elements. If the stack must unwind to frames, stops and returns true.
    fn sweep(&mut self, cx: Cx) -> bool {
        let elements = Arc::clone(&self.elements);
        while self.next < elements.len() {
            let index = self.next;
            // Values of size zero have no order.
            let suspended = if size_of::<C::Output>() == 0 || index == self.values.len() {
                self.call_in_order(&elements, cx)
            } else {
                self.next += 1;
                let task = self.calls.task(elements[index], self.args.next());
                // SAFETY: `cx` is the current worker's, and a child is kept in `out` and waited for.
                let called = unsafe { call_guarded(cx, task) };
                called.open().map(|value| self.later.push((index, value))).err()
            };
            if let Some(child) = suspended {
                cx.send_pending_call();
                self.out.push((self.next - 1, child));
                if cx.leaving() {
                    return true;
                }
            }
        }
        false
    }

    /// Calls the remaining elements until one suspends; returns its child. Unless values have size zero, `values` must
    /// hold the values of exactly the elements before `next`.
    fn call_in_order(&mut self, elements: &[Ref<T>], cx: Cx) -> Option<Child<C::Task>> {
        let elements = &elements[self.next..];
        self.values.reserve(elements.len());
        let (values, next) = (&mut self.values, &mut self.next);
        let mut to = values.spare_capacity_mut().as_mut_ptr();
        let mut calls = InOrder { all: elements.len(), rest: elements.iter(), out: true, values, next };
        for &element in calls.rest.by_ref() {
            let task = self.calls.task(element, self.args.next());
            // SAFETY: `cx` is the current worker's, and the caller keeps the child in `out` and waits for it.
            let called = unsafe { call_guarded(cx, task) };
            if called.suspended() {
                // SAFETY: `suspended` has just returned true.
                return Some(unsafe { called.child() });
            }
            // SAFETY: `suspended` has returned false; the vector has room for a value of each element.
            unsafe {
                to.write(MaybeUninit::new(called.value()));
                to = to.add(1);
            }
        }
        calls.out = false;
        None
    }

    /// Stores the value of a suspended call that has ended.
    fn ended(&mut self, index: usize, value: C::Output) {
        // Values of size zero have no order.
        if size_of::<C::Output>() == 0 || index == self.values.len() {
            self.values.push(value);
        } else {
            self.later.push((index, value));
        }
    }
}

/// The state of `call_in_order`. Its destructor, which also runs on a panic, advances `next` and sets the length of
/// `values`. So the loop updates neither of them, only its iterator, which can stay in a register.
struct InOrder<'a, T, V> {
    all: usize,
    /// The elements that have not been called.
    rest: slice::Iter<'a, Ref<T>>,
    /// Whether the last called element has delivered no value: it has suspended or panicked.
    out: bool,
    /// The values of the leading elements. The spare capacity has room for all others.
    values: &'a mut Vec<V>,
    /// The index of the next element to call; updated by the destructor.
    next: &'a mut usize,
}

impl<T, V> Drop for InOrder<'_, T, V> {
    fn drop(&mut self) {
        let called = self.all - self.rest.len();
        *self.next += called;
        // SAFETY: the values of all called elements have been written to the spare capacity, except the last if `out`
        // is set.
        unsafe { self.values.set_len(self.values.len() + called - usize::from(self.out)) };
    }
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Future for Sweeping<T, S, C> {
    type Output = Swept<C::Output>;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Self::Output> {
        // SAFETY: only a worker polls a body, and the context is used within this poll only.
        let cx = unsafe { cx() };
        let this = &mut *self;
        this.turn = Turn::NONE;
        // A panic stops further calls unless the array is freed. It is kept until the suspended calls have ended.
        while this.next < this.elements.len() && (this.panic.is_none() || this.last) {
            match catch_unwind(AssertUnwindSafe(|| this.sweep(cx))) {
                Ok(false) => {}
                // A call suspended because the stack unwinds to frames. The loop must continue later, without waiting
                // for that call, which may itself wait for later elements.
                Ok(true) => {
                    this.turn.ask(cx);
                    this.turn.wait(cx);
                    return Poll::Pending;
                }
                Err(payload) => keep(&mut this.panic, pack(payload)),
            }
        }
        let some_ended = this.out.iter().any(|(_, child)| child.ended());
        for (index, child) in if some_ended { std::mem::take(&mut this.out) } else { Vec::new() } {
            if !child.ended() {
                this.out.push((index, child));
                continue;
            }
            match child.deliver() {
                Delivered::Value(value) => this.ended(index, value),
                Delivered::Panic(payload) => keep(&mut this.panic, payload),
                Delivered::Cancelled => {
                    keep(&mut this.panic, Payload::new("a call of an array's element was cancelled"));
                }
            }
        }
        if !this.out.is_empty() {
            this.out.iter().for_each(|(_, child)| cx.wait_for(child.frame()));
            return Poll::Pending;
        }
        if let Some(payload) = this.panic.take() {
            if !this.last {
                payload.resume();
            }
            let which = Which { object: T::NAME, method: "free", node: cx.node() };
            let failure = Some(which.panicked(payload).to_string());
            return Poll::Ready(Swept { parts: Vec::new(), failure });
        }
        let (values, later) = (std::mem::take(&mut this.values), std::mem::take(&mut this.later));
        let values = if later.is_empty() { values } else { in_order(this.elements.len(), values, later) };
        Poll::Ready(Swept { parts: vec![(this.part, values)], failure: None })
    }
}

/// Returns all values by index. `first` holds the values of the leading elements, `others` the rest with their indices.
fn in_order<V>(len: usize, first: Vec<V>, others: Vec<(usize, V)>) -> Vec<V> {
    let mut all = super::InOrder::of(len);
    for (index, value) in first.into_iter().enumerate() {
        all.put(index, value);
    }
    for (index, value) in others {
        all.put(index, value);
    }
    all.values()
}

/// Stores `payload` in `first` unless that already has a panic.
fn keep(first: &mut Option<Payload>, payload: Payload) {
    match first {
        None => *first = Some(payload),
        Some(_) => drop(payload),
    }
}
