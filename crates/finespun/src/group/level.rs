//! Early exit from an outer level: ParC's `preturn`; and early exit from the run: ParC's `exit`.

use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Mutex;

use super::activities::Activities;
use super::construct::Construct;
use super::ends::Values;
use crate::atomics::lock_std as lock;
use crate::call::outcome::Outcome;
use crate::call::{Task, destroyed, sealed};
use crate::frame::context::{Cx, try_cx};
use crate::frame::quietly;
use crate::iterate::many::Sink;
use crate::process::ProcessMutex;

/// The state of a level. It is never freed, but reused after the level has ended: the generation detects a handle that
/// outlives its level.
struct State {
    generation: u64,
    /// Set from the time the level begins until its construct is dropped. The group may end before this is cleared.
    live: bool,
    /// The level's group: its number, and the use count of that number's record.
    group: u32,
    uses: u64,
    /// A box with the value that the level delivers, if `preturn` has supplied one.
    value: Option<NonNull<()>>,
}

// SAFETY: the value is a box of a type that is `Send`, as `preturn` demands.
unsafe impl Send for State {}

/// States of levels that have ended.
static STATES: ProcessMutex<Vec<&'static Mutex<State>>> = ProcessMutex::new(Vec::new());

/// A level that any task running beneath it can return from: see [`level`]. A `Copy` handle that is passed down.
pub struct Level<T> {
    state: &'static Mutex<State>,
    generation: u64,
    value: PhantomData<fn(T)>,
}

impl<T> Clone for Level<T> {
    fn clone(&self) -> Level<T> {
        *self
    }
}

impl<T> Copy for Level<T> {}

impl<T> std::fmt::Debug for Level<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Level").finish_non_exhaustive()
    }
}

/// Runs the task that `body` makes as a level of its own: any task running beneath the level can end it with a value,
/// by [`preturn`], from any depth of constructs. Otherwise the level delivers the task's output.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::{group::Level, level, preturn};
///
/// #[task]
/// async fn row(rows: &[Vec<u64>], y: usize, found: Level<Option<(usize, usize)>>) {
///     parfor(0..rows[y].len(), move |x| cell(rows, x, y, found)).await
/// }
///
/// #[task]
/// async fn cell(rows: &[Vec<u64>], x: usize, y: usize, found: Level<Option<(usize, usize)>>) {
///     if rows[y][x] == 42 {
///         // Ends both loops.
///         preturn(found, Some((x, y))).await;
///     }
/// }
///
/// #[task]
/// async fn find(rows: &[Vec<u64>], found: Level<Option<(usize, usize)>>) -> Option<(usize, usize)> {
///     parfor(0..rows.len(), move |y| row(rows, y, found)).await;
///     None
/// }
///
/// #[task]
/// async fn search(rows: &[Vec<u64>]) -> Option<(usize, usize)> {
///     level(|found| find(rows, found)).await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(search(&[vec![1, 2], vec![3, 42]])), Some((1, 1)));
/// ```
///
/// # Panics
/// With the panic of the task.
///
/// *Cost*: a group's record. *Source*: maxi-parc-runtime, section 6.1.
pub fn level<T, F, Tk>(body: F) -> Construct<Leveled<T, F>, Only<T>, Values>
where
    T: Send,
    F: FnOnce(Level<T>) -> Tk + Send,
    Tk: Task<Output = T> + Send,
{
    let state = STATES.lock().pop().unwrap_or_else(|| {
        let state = State { generation: 0, live: false, group: 0, uses: 0, value: None };
        Box::leak(Box::new(Mutex::new(state)))
    });
    let generation = {
        let mut state = lock(state);
        state.generation += 1;
        state.generation
    };
    let level = Level { state, generation, value: PhantomData };
    Construct::new(Leveled { body: UnsafeCell::new(Some(body)), level }, Only(None))
}

/// The activity of a [`level`].
pub struct Leveled<T, F> {
    body: UnsafeCell<Option<F>>,
    level: Level<T>,
}

// SAFETY: the caller of `activity` guarantees that the body is taken once, so by one thread only.
unsafe impl<T: Send, F: Send> Sync for Leveled<T, F> {}

impl<T, F> sealed::Sealed for Leveled<T, F> {}
impl<T, F, Tk> Activities for Leveled<T, F>
where
    T: Send,
    F: FnOnce(Level<T>) -> Tk + Send,
    Tk: Task<Output = T>,
{
    type Task = Tk;

    fn count(&self) -> u64 {
        1
    }

    unsafe fn activity(&self, _: u64) -> Tk {
        let Some(cx) = try_cx() else { unreachable!("activities begin on workers") };
        {
            let group = cx.group();
            let uses = cx.context().team().groups().get(group).uses();
            let mut state = lock(self.level.state);
            (state.live, state.group, state.uses) = (true, group, uses);
        }
        // SAFETY: the caller guarantees one call, so no other thread accesses this cell.
        let body = unsafe { &mut *self.body.get() }.take().expect("each activity begins once");
        body(self.level)
    }

    fn returned(&self) -> Option<T> {
        lock(self.level.state).value.take().map(open)
    }
}

/// Unboxes the value of a level. The caller must pass a box that `preturn` stored in a level with value type `T`. Never
/// panics.
fn open<T>(value: NonNull<()>) -> T {
    // SAFETY: the box was leaked by `preturn`, with the level's own type `T`.
    *unsafe { Box::from_raw(value.cast::<T>().as_ptr()) }
}

impl<T, F> Drop for Leveled<T, F> {
    fn drop(&mut self) {
        let value = {
            let mut state = lock(self.level.state);
            state.live = false;
            state.value.take()
        };
        if let Some(value) = value {
            // The construct was cancelled before it took the value.
            quietly(|| drop(open::<T>(value)));
        }
        STATES.lock().push(self.level.state);
    }
}

impl<T, F> std::fmt::Debug for Leveled<T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leveled").finish_non_exhaustive()
    }
}

/// A sink for the only value.
#[derive(Debug)]
pub struct Only<T>(Option<T>);

impl<T> Sink<T> for Only<T> {
    type Output = T;
    #[inline(always)]
    fn put(&mut self, value: T) {
        self.0 = Some(value);
    }
    #[inline(always)]
    fn finish(self) -> T {
        self.0.expect("a level has one activity")
    }
}

/// Ends a level with a value, and terminates everything beneath the level by one request. That includes the calling
/// task, so the await never delivers a value.
///
/// Drops the value if the level or an enclosing level has already been terminated, by another `preturn` or a panic.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::{group::Level, level, preturn};
///
/// /// Tries both halves of a range at the same time, and so on: the first factor found ends the whole search.
/// #[task]
/// async fn search(n: u64, from: u64, to: u64, found: Level<Option<u64>>) {
///     if to - from == 1 {
///         if n % from == 0 {
///             preturn(found, Some(from)).await;
///         }
///         return;
///     }
///     let middle = from.midpoint(to);
///     join!(search(n, from, middle, found), search(n, middle, to, found));
/// }
///
/// #[task]
/// async fn factor_beneath(n: u64, found: Level<Option<u64>>) -> Option<u64> {
///     search(n, 2, n, found).await;
///     None
/// }
///
/// #[task]
/// async fn factor(n: u64) -> Option<u64> {
///     level(|found| factor_beneath(n, found)).await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert!([13, 17].map(Some).contains(&runtime.run(factor(221))));
/// assert_eq!(runtime.run(factor(223)), None);
/// ```
///
/// # Panics
/// If the calling task does not run beneath the level, or if the [`level`] construct no longer exists.
pub fn preturn<T: Send>(level: Level<T>, value: T) -> Preturn<T> {
    Preturn { level, value }
}

/// The task that [`preturn`] makes.
#[must_use = "the level ends when this is awaited"]
#[derive(Debug)]
pub struct Preturn<T> {
    level: Level<T>,
    value: T,
}

impl<T> sealed::Sealed for Preturn<T> {}
impl<T: Send> Task for Preturn<T> {
    type Output = Infallible;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Infallible> {
        let Preturn { level, value } = self;
        // `group` gives a number to all groups that this task runs in. No such group ends before this task.
        let own = cx.group();
        let mut state = lock(level.state);
        let refused = if !state.live || state.generation != level.generation {
            Some("`preturn` from a level that has ended")
        } else if !cx.context().team().groups().is_beneath(own, state.group, state.uses) {
            Some("`preturn` from a level that this task does not run in")
        } else {
            None
        };
        if let Some(refused) = refused {
            drop(state);
            panic!("{refused}");
        }
        // The level's group does not end before this task. The value is stored before the termination, so that a thread
        // that sees the group terminated finds the value.
        let late = match state.value {
            None => {
                state.value = Some(NonNull::from(Box::leak(Box::new(value))).cast());
                // Takes the value back if the group was already terminated, by a panic.
                if cx.terminate_group(state.group) { None } else { state.value.take().map(open) }
            }
            // Another task has ended the level before.
            Some(_) => Some(value),
        };
        drop(state);
        drop(late);
        Outcome::suspended(destroyed::<Infallible>(cx))
    }
}

/// Ends the run, with a code: [`Runtime::try_run`](crate::Runtime::try_run) returns
/// [`RunError::Exited`](crate::RunError::Exited). The await never delivers a value.
///
/// The first code counts. Source: maxi-parc-runtime, section 3.
pub fn exit(code: i32) -> Exit {
    Exit(code)
}

/// The task that [`exit`] makes.
#[must_use = "the run ends when this is awaited"]
#[derive(Debug)]
pub struct Exit(i32);

impl sealed::Sealed for Exit {}
impl Task for Exit {
    type Output = Infallible;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Infallible> {
        let run = cx.current_run();
        run.exit(self.0);
        cx.cancel(&run);
        Outcome::suspended(destroyed::<Infallible>(cx))
    }
}
