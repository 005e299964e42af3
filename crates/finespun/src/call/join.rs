//! `join!`: several tasks, begun in order on the stack and awaited together.
//!
//! In stack code a join is a sequence of plain calls. When a call suspends, the function falls back with a
//! [`Join2Point`] (up to [`Join12Point`], by the number of branches): the values so far, the suspended child, and the
//! branches not begun. The resumable body then *begins the rest* before the worker runs another frame: on the stack if
//! the child was blocked, as ready frames if the stack is being unwound to frames ([`Cx::leaving`]). From then on a
//! [`JoinWait2`] (up to [`JoinWait12`]) waits for all pending branches, and its frame restarts once.
//!
//! While a sibling is pending, a later branch that panics must not unwind through the frame that the sibling may borrow
//! from: the join keeps the payload until all branches have ended.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::outcome::Child;
use super::{Task, call_guarded};
use crate::frame::context::{Cx, cx};
use crate::frame::origin::pack;
use crate::frame::{Delivered, Payload};

/// One branch of a join that has been begun.
pub(crate) enum Branch<Tk: Task> {
    /// Ended with a value.
    Done(Tk::Output),
    /// Pending.
    Child(Child<Tk>),
    /// Ended with a panic, kept until the siblings have ended. The payload, a box of two words, is boxed again, to keep
    /// frames small: panics are rare.
    Panicked(Box<Payload>),
    /// Its value has been taken.
    Taken,
}

impl<Tk: Task> Branch<Tk> {
    /// Begins a branch while a sibling is pending.
    pub(crate) fn begin(cx: Cx, task: Tk) -> Branch<Tk> {
        cx.send_pending_call();
        if cx.leaving() {
            return Branch::Child(Child::new(task.start(cx)));
        }
        // SAFETY: `cx` is the current worker's; a child is kept and waited for.
        match catch_unwind(AssertUnwindSafe(|| unsafe { call_guarded(cx, task) }.open())) {
            Ok(Ok(value)) => Branch::Done(value),
            Ok(Err(child)) => Branch::Child(child),
            Err(payload) => Branch::Panicked(Box::new(pack(payload))),
        }
    }

    /// Begins a branch. `out` says whether a sibling is pending, and is set if this branch suspends.
    pub(crate) fn next(cx: Cx, task: Tk, out: &mut bool) -> Branch<Tk> {
        if *out {
            return Branch::begin(cx, task);
        }
        // SAFETY: `cx` is the current worker's; a child is kept and waited for.
        match unsafe { call_guarded(cx, task) }.open() {
            Ok(value) => Branch::Done(value),
            Err(child) => {
                *out = true;
                Branch::Child(child)
            }
        }
    }

    /// If the branch is pending: takes the result if `look` is set and the child has ended, else registers a wait.
    /// Returns whether it registered a wait.
    pub(crate) fn still_out(&mut self, cx: Cx, look: bool) -> bool {
        let Branch::Child(child) = self else { return false };
        if !(look && child.ended()) {
            cx.wait_for(child.frame());
            return true;
        }
        self.look();
        false
    }

    /// Takes the result if the branch has ended. Returns whether the branch has ended.
    pub(crate) fn look(&mut self) -> bool {
        let Branch::Child(child) = self else { return true };
        if !child.ended() {
            return false;
        }
        let Branch::Child(child) = std::mem::replace(self, Branch::Taken) else { unreachable!() };
        *self = match child.deliver() {
            Delivered::Value(value) => Branch::Done(value),
            Delivered::Panic(payload) => Branch::Panicked(Box::new(payload)),
            Delivered::Cancelled => Branch::Panicked(Box::new(Payload::new("the joined task was cancelled"))),
        };
        true
    }

    /// Resumes the kept panic, if there is one.
    pub(crate) fn rethrow(&mut self) {
        #[cold]
        #[inline(never)]
        fn throw<Tk: Task>(branch: &mut Branch<Tk>) {
            if let Branch::Panicked(payload) = std::mem::replace(branch, Branch::Taken) {
                payload.resume();
            }
        }
        if let Branch::Panicked(_) = self {
            throw(self);
        }
    }

    /// Takes the value of an ended branch.
    pub(crate) fn take(&mut self) -> Tk::Output {
        match std::mem::replace(self, Branch::Taken) {
            Branch::Done(value) => value,
            _ => unreachable!("a join delivers when every branch has ended"),
        }
    }
}

/// Calls `begin`, which begins the rest of a join, with the worker's `entering` flag cleared, and restores the flag
/// afterwards. The flag belongs to the outer body's poll, and a fallback nested in `begin` uses it too.
fn keeping_entry<R>(cx: Cx, begin: impl FnOnce() -> R) -> R {
    let entering = cx.take_entering();
    let begun = begin();
    if entering {
        cx.set_entering();
    }
    begun
}

macro_rules! join {
    ($Point:ident $Wait:ident $Async:ident $resume:ident $start:ident $async:ident: $($branch:tt)+) => {
        join! { @points $Point $Wait $Async $resume $start $async [] [$($branch)+] [] [$($branch)+] }
    };
    (@points $($name:ident)+ [$($before:tt)*] [($T:ident $t:ident $P:ident) $($after:tt)*] [$($points:tt)*] [$($all:tt)+]) => {
        join! { @points $($name)+ [$($before)* ($T $t $P)] [$($after)*]
            [$($points)* {$P [$($before)*] $T $t [$($after)*]}] [$($all)+] }
    };
    (@points $Point:ident $Wait:ident $Async:ident $resume:ident $start:ident $async:ident [$($_b:tt)*] []
        [$({$P:ident [$(($B:ident $b:ident $_pb:ident))*] $C:ident $c:ident [$(($A:ident $a:ident $_pa:ident))*]})+]
        [$(($T:ident $t:ident $_p:ident))+]
    ) => {
        /// The state in which a join fell back: values, the suspended child, branches not begun.
        pub enum $Point<$($T: Task),+> {
            $(
                /// This branch was suspended.
                $P($($B::Output,)* Child<$C>, $($A,)*),
            )+
        }

        /// A future that waits for a join whose branches have all been begun.
        pub struct $Wait<$($T: Task),+> { $($t: Branch<$T>),+ }

        impl<$($T: Task),+> Unpin for $Wait<$($T),+> {}

        impl<$($T: Task),+> Future for $Wait<$($T),+> {
            type Output = ($($T::Output,)+);
            fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Self::Output> {
                // SAFETY: a body is polled by a worker; used within this poll.
                let cx = unsafe { cx() };
                // While the body is polled up to its resume point, or the stack is being unwound to frames, no result
                // is taken: the body would continue on this stack.
                let look = !cx.take_entering() && !cx.leaving();
                let mut out = false;
                $( out |= self.$t.still_out(cx, look); )+
                if out {
                    return Poll::Pending;
                }
                $( self.$t.rethrow(); )+
                Poll::Ready(($(self.$t.take(),)+))
            }
        }

        /// Begins the branches that a suspended join has not begun.
        ///
        /// # Safety
        /// Only for generated code: called in a body before its resume point, and awaited at once.
        pub unsafe fn $resume<$($T: Task),+>(point: $Point<$($T),+>) -> $Wait<$($T),+> {
            // SAFETY: a body is polled by a worker; used within this poll.
            let cx = unsafe { cx() };
            keeping_entry(cx, || match point {
                $(
                    $Point::$P($($b,)* $c, $($a,)*) => $Wait {
                        $($b: Branch::Done($b),)*
                        $c: Branch::Child($c),
                        $($a: Branch::begin(cx, $a),)*
                    },
                )+
            })
        }

        /// Begins a join from a resumable body.
        ///
        /// # Safety
        /// Only for generated code: `cx` is the current worker's, and the wait is awaited at once.
        #[allow(clippy::too_many_arguments, reason = "a join has as many branches as it has")]
        pub unsafe fn $start<$($T: Task),+>(cx: Cx, $($t: $T),+) -> $Wait<$($T),+> {
            let mut out = false;
            $Wait { $($t: Branch::next(cx, $t, &mut out)),+ }
        }

        /// A join in a pinned body: begins at the first poll.
        pub struct $Async<$($T: Task),+> {
            start: Option<($($T,)+)>,
            wait: Option<$Wait<$($T),+>>,
        }

        impl<$($T: Task),+> Unpin for $Async<$($T),+> {}

        impl<$($T: Task),+> Future for $Async<$($T),+> {
            type Output = ($($T::Output,)+);
            fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<Self::Output> {
                if let Some(($($t,)+)) = self.start.take() {
                    // SAFETY: a body is polled by a worker; `cx` is used at once and the wait kept.
                    self.wait = Some(unsafe { $start(cx(), $($t),+) });
                }
                match &mut self.wait {
                    Some(wait) => Pin::new(wait).poll(std),
                    None => unreachable!("a join is polled after it has begun"),
                }
            }
        }

        /// Returns a join for a pinned body.
        ///
        /// # Safety
        /// Only for generated code: awaited at once in a task's body.
        #[allow(clippy::too_many_arguments, reason = "a join has as many branches as it has")]
        pub unsafe fn $async<$($T: Task),+>($($t: $T),+) -> $Async<$($T),+> {
            $Async { start: Some(($($t,)+)), wait: None }
        }
    };
}

join! { Join2Point JoinWait2 JoinAsync2 resume_join2 start_join2 join_async2: (A a P0) (B b P1) }
join! { Join3Point JoinWait3 JoinAsync3 resume_join3 start_join3 join_async3: (A a P0) (B b P1) (C c P2) }
join! { Join4Point JoinWait4 JoinAsync4 resume_join4 start_join4 join_async4: (A a P0) (B b P1) (C c P2) (D d P3) }
join! { Join5Point JoinWait5 JoinAsync5 resume_join5 start_join5 join_async5:
(A a P0) (B b P1) (C c P2) (D d P3) (E e P4) }
join! { Join6Point JoinWait6 JoinAsync6 resume_join6 start_join6 join_async6:
(A a P0) (B b P1) (C c P2) (D d P3) (E e P4) (F f P5) }
join! { Join7Point JoinWait7 JoinAsync7 resume_join7 start_join7 join_async7:
(A a P0) (B b P1) (C c P2) (D d P3) (E e P4) (F f P5) (G g P6) }
join! { Join8Point JoinWait8 JoinAsync8 resume_join8 start_join8 join_async8:
(A a P0) (B b P1) (C c P2) (D d P3) (E e P4) (F f P5) (G g P6) (H h P7) }
join! { Join9Point JoinWait9 JoinAsync9 resume_join9 start_join9 join_async9:
(A a P0) (B b P1) (C c P2) (D d P3) (E e P4) (F f P5) (G g P6) (H h P7) (I i P8) }
join! { Join10Point JoinWait10 JoinAsync10 resume_join10 start_join10 join_async10:
(A a P0) (B b P1) (C c P2) (D d P3) (E e P4) (F f P5) (G g P6) (H h P7) (I i P8) (J j P9) }
join! { Join11Point JoinWait11 JoinAsync11 resume_join11 start_join11 join_async11:
(A a P0) (B b P1) (C c P2) (D d P3) (E e P4) (F f P5) (G g P6) (H h P7) (I i P8) (J j P9) (K k P10) }
join! { Join12Point JoinWait12 JoinAsync12 resume_join12 start_join12 join_async12:
(A a P0) (B b P1) (C c P2) (D d P3) (E e P4) (F f P5) (G g P6) (H h P7) (I i P8) (J j P9) (K k P10) (L l P11) }

/// Begins two branches in a resumable body: the second as a ready frame, which an idle worker takes at once, and the first on
/// this stack.
///
/// # Safety
/// Called in a body, at its first poll or later, and awaited at once.
pub(crate) unsafe fn start_published<A: Task, B: Task>(a: A, b: B) -> JoinWait2<A, B> {
    // SAFETY: a body is polled by a worker; used within this poll.
    let cx = unsafe { cx() };
    let b = Branch::Child(Child::new(b.start(cx)));
    JoinWait2 { a: Branch::begin(cx, a), b }
}
