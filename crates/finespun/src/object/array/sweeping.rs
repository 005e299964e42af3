//! The calls of one part's objects, one after the other.

use std::hint::black_box as opaque;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::error::Which;
use super::super::reference::{Object, Ref};
use super::portion::Elements;
use super::supply::{Calls, Supply};
use crate::call::outcome::{Called, Child};
use crate::call::{Task, call_guarded};
use crate::frame::context::Cx;
use crate::frame::origin::pack;
use crate::frame::{Delivered, Payload, drop_quietly};
use crate::iterate::engine::{Loop, Turn};

/// The results of some parts.
#[derive(Serialize, Deserialize)]
pub(super) struct Swept<V> {
    /// The number and the values of each part.
    pub(super) parts: Vec<(usize, Vec<V>)>,
    /// The first failure of an operation that frees the array. Other operations throw their failures.
    pub(super) failure: Option<String>,
}

impl<V> Swept<V> {
    pub(super) fn all(swept: Vec<Swept<V>>) -> Swept<V> {
        let (mut parts, mut failure) = (Vec::new(), None);
        for some in swept {
            parts.extend(some.parts);
            failure = failure.or(some.failure);
        }
        Swept { parts, failure }
    }
}

/// The loop that calls a part's objects. It is in a frame from the start; its first poll runs on the
/// caller's stack.
pub(super) struct Sweeping<T, S: Supply, C: Calls<T, S::Argument>> {
    part: usize,
    elements: Arc<Elements<T>>,
    next: usize,
    /// The number of a run that is not after `next`.
    run: usize,
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
    /// The first panic.
    panic: Option<Payload>,
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Sweeping<T, S, C> {
    pub(super) fn new(part: usize, elements: Arc<Elements<T>>, args: S, calls: C, last: bool) -> Sweeping<T, S, C> {
        let values = Vec::with_capacity(elements.len());
        let (later, out) = (Vec::new(), Vec::new());
        Sweeping { part, elements, next: 0, run: 0, args, calls, last, values, later, out, panic: None }
    }

    /// Calls the remaining elements, but stops if the stack must be unwound to frames.
    fn sweep(&mut self, cx: Cx) {
        while self.next < self.elements.len() {
            let index = self.next;
            // Values of size zero have no order.
            let suspended = if size_of::<C::Output>() == 0 || index == self.values.len() {
                self.call_in_order(cx)
            } else {
                self.next += 1;
                let (element, _) = self.elements.from(index, &mut self.run);
                let task = self.calls.task(element, self.args.next());
                // SAFETY: `cx` is the current worker's, and a child is kept in `out` and waited for.
                let called = unsafe { call_guarded(cx, task) };
                called.open().map(|value| self.later.push((index, value))).err()
            };
            if let Some(child) = suspended {
                cx.send_pending_call();
                self.out.push((self.next - 1, child));
                if cx.leaving() {
                    return;
                }
            }
        }
    }

    /// Calls the elements of the run that begins at the next one, until one suspends; returns its child. Unless values have
    /// size zero, `values` must hold the values of exactly the elements before `next`.
    ///
    /// A function of its own, whose loop has all registers.
    #[inline(never)]
    fn call_in_order(&mut self, cx: Cx) -> Option<Child<C::Task>> {
        let (first, count) = self.elements.from(self.next, &mut self.run);
        self.values.reserve(count);
        let (values, next) = (&mut self.values, &mut self.next);
        let mut to = values.spare_capacity_mut().as_mut_ptr();
        let mut calls = InOrder { first: opaque(first), element: first, out: true, values, next };
        // Not in relation to `first`, so that the loop has one induction variable.
        // SAFETY: the result is only compared.
        let end = opaque(unsafe { first.neighbour(count) });
        while calls.element != end {
            let task = self.calls.task(calls.element, self.args.next());
            // SAFETY: `cx` is the current worker's, and the caller keeps the child in `out` and waits for it.
            let called = Called::<C::Task>::new(unsafe { task.call_in_loop(cx) });
            if called.suspended() {
                // SAFETY: `suspended` has just returned true.
                return Some(unsafe { called.child() });
            }
            // SAFETY: `suspended` has returned false; the vector has room for a value of each element.
            unsafe {
                to.write(MaybeUninit::new(called.value()));
                to = to.add(1);
            }
            // SAFETY: the run's elements are neighbours; behind the last one the result is only compared.
            calls.element = unsafe { calls.element.neighbour(1) };
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
/// `values`. So the loop updates neither of them, only the element, which can stay in a register.
struct InOrder<'a, T: Object, V> {
    first: Ref<T>,
    /// The element that is being called, or will be next.
    element: Ref<T>,
    /// Whether that element has been called, but has delivered no value: it has suspended or panicked.
    out: bool,
    /// The values of the leading elements. The spare capacity has room for all others.
    values: &'a mut Vec<V>,
    /// The index of the next element to call; updated by the destructor.
    next: &'a mut usize,
}

impl<T: Object, V> Drop for InOrder<'_, T, V> {
    fn drop(&mut self) {
        let ended = self.element.slots_after(self.first);
        *self.next += ended + usize::from(self.out);
        // SAFETY: the values of that many elements have been written to the spare capacity.
        unsafe { self.values.set_len(self.values.len() + ended) };
    }
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Loop for Sweeping<T, S, C> {
    type Output = Swept<C::Output>;

    fn stretch(&mut self, cx: Cx, _: &mut Turn) -> bool {
        // A panic stops further calls unless the array is freed.
        if self.next == self.elements.len() || self.panic.is_some() && !self.last {
            return false;
        }
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.sweep(cx))) {
            keep(&mut self.panic, pack(payload));
        }
        true
    }

    /// Hands nothing over: only this worker calls the node's objects.
    fn hand_over(&mut self, cx: Cx, turn: &mut Turn) {
        if self.next < self.elements.len() {
            turn.ask_here(cx);
        }
    }

    fn stop(&mut self) {
        self.next = self.elements.len();
    }

    fn collect(&mut self) {
        if !self.out.iter().any(|(_, child)| child.ended()) {
            return;
        }
        for (index, child) in std::mem::take(&mut self.out) {
            if !child.ended() {
                self.out.push((index, child));
                continue;
            }
            match child.deliver() {
                Delivered::Value(value) => self.ended(index, value),
                Delivered::Panic(payload) => keep(&mut self.panic, payload),
                Delivered::Cancelled => {
                    keep(&mut self.panic, Payload::new("a call of an array's element was cancelled"));
                }
            }
        }
    }

    fn discard(&mut self) {
        self.out.extract_if(.., |(_, child)| child.ended()).for_each(drop_quietly);
    }

    fn wait(&mut self, cx: Cx, look: bool) -> bool {
        let out = self.out.iter().filter(|(_, child)| !(look && child.ended()));
        out.inspect(|(_, child)| cx.wait_for(child.frame())).count() > 0
    }

    fn finish(&mut self, cx: Cx) -> Swept<C::Output> {
        if let Some(payload) = self.panic.take() {
            if !self.last {
                payload.resume();
            }
            let which = Which { object: T::NAME, method: "free", node: cx.node() };
            let failure = Some(which.panicked(payload).to_string());
            return Swept { parts: Vec::new(), failure };
        }
        let (values, later) = (std::mem::take(&mut self.values), std::mem::take(&mut self.later));
        let values = if later.is_empty() { values } else { in_order(self.elements.len(), values, later) };
        Swept { parts: vec![(self.part, values)], failure: None }
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
