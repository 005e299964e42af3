//! Activities of different types: ParC's `parblock`.

use std::cell::UnsafeCell;

use super::Nothing;
use super::activities::Activities;
use super::construct::Construct;
use super::ends::MayBreak;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::FrameRef;
use crate::frame::context::Cx;

/// The activities of a [`parblock!`](crate::parblock): a tuple of tasks.
#[derive(Debug)]
pub struct Blocks<T>(T);

/// A tuple of tasks that may be the activities of one group: one to twelve tasks with the same output type.
pub trait Tuple {
    /// The type of the activities.
    type Blocks;
    #[doc(hidden)]
    fn blocks(self) -> Self::Blocks;
}

/// Runs tasks as the activities of one group, and waits until all have ended. [`parblock!`](crate::parblock) makes
/// this.
pub fn parblock<T: Tuple>(tasks: T) -> Construct<T::Blocks, Nothing, MayBreak> {
    Construct::new(tasks.blocks(), Nothing)
}

macro_rules! blocks {
    ($One:ident $count:literal: $($T:ident $at:tt)+) => {
        /// One task of the tuple.
        pub enum $One<$($T),+> {
            $(
                /// The task at this position.
                $T($T),
            )+
        }

        impl<$($T),+> sealed::Sealed for $One<$($T),+> {}
        impl<O, $($T: Task<Output = O>),+> Task for $One<$($T),+> {
            type Output = O;
            const STRAIGHT: bool = true $(&& $T::STRAIGHT)+;

            #[inline(always)]
            unsafe fn call(self, cx: Cx) -> Outcome<O> {
                match self {
                    $(
                        // SAFETY: the caller guarantees the call protocol: it opens the outcome and awaits a suspended
                        // callee.
                        $One::$T(task) => unsafe { task.call(cx) },
                    )+
                }
            }

            fn start(self, cx: Cx) -> FrameRef {
                match self {
                    $($One::$T(task) => task.start(cx),)+
                }
            }
        }

        impl<$($T),+> Tuple for ($($T,)+) {
            type Blocks = Blocks<($(UnsafeCell<Option<$T>>,)+)>;
            fn blocks(self) -> Self::Blocks {
                Blocks(($(UnsafeCell::new(Some(self.$at)),)+))
            }
        }

        // SAFETY: the caller of `activity` guarantees that each task is taken once, so by one thread only.
        unsafe impl<$($T: Send),+> Sync for Blocks<($(UnsafeCell<Option<$T>>,)+)> {}

        impl<$($T),+> sealed::Sealed for Blocks<($(UnsafeCell<Option<$T>>,)+)> {}
        impl<O: Send, $($T: Task<Output = O> + Send),+> Activities for Blocks<($(UnsafeCell<Option<$T>>,)+)> {
            type Task = $One<$($T),+>;

            #[inline(always)]
            fn count(&self) -> u64 {
                $count
            }

            #[inline(always)]
            unsafe fn activity(&self, k: u64) -> Self::Task {
                const TAKEN: &str = "each activity begins once";
                match k {
                    $(
                        // SAFETY: the caller guarantees one call for each `k`, so no other thread accesses this cell.
                        $at => $One::$T(unsafe { &mut *self.0.$at.get() }.take().expect(TAKEN)),
                    )+
                    _ => unreachable!("within the count"),
                }
            }
        }
    };
}

blocks! { One1 1: A 0 }
blocks! { One2 2: A 0 B 1 }
blocks! { One3 3: A 0 B 1 C 2 }
blocks! { One4 4: A 0 B 1 C 2 D 3 }
blocks! { One5 5: A 0 B 1 C 2 D 3 E 4 }
blocks! { One6 6: A 0 B 1 C 2 D 3 E 4 F 5 }
blocks! { One7 7: A 0 B 1 C 2 D 3 E 4 F 5 G 6 }
blocks! { One8 8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }
blocks! { One9 9: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 }
blocks! { One10 10: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 }
blocks! { One11 11: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 }
blocks! { One12 12: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 }
