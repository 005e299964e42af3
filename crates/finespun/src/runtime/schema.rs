//! Whether calls run on the stack first.

/// What becomes of a call.
///
/// The comparison of the Concert papers (hybrid-execution-model, section 4; concert-runtime-mechanisms, section 4.1, where it
/// is the *base* version): what does it bring to call on the stack and to make a frame only for what has to wait?
///
/// ```
/// use finespun::Schema;
/// use finespun::prelude::*;
///
/// #[task]
/// async fn fib(n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = join!(fib(n - 1), fib(n - 2));
///     a + b
/// }
///
/// # fn main() -> Result<(), finespun::Error> {
/// let frames = |schema| {
///     let runtime = Runtime::builder().workers(1).schema(schema).build()?;
///     assert_eq!(runtime.run(fib(10)), 55);
///     Ok::<_, finespun::Error>(runtime.stats().frames)
/// };
/// // Of fib(10) there are 177 calls.
/// assert!(frames(Schema::Auto)? < 177 && frames(Schema::Heap)? >= 177);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schema {
    /// It runs on the stack of its caller, and becomes a frame if it has to wait: the hybrid model. What the compiler chose
    /// for each task holds.
    #[default]
    Auto,
    /// It becomes a frame of its own, which is put into the queue and run from there, and its caller waits for it: the papers'
    /// parallel-only version, a thread for each call. For comparisons only; a program's answer must not depend on it. The
    /// calls of tasks that are straight stay plain ones.
    Heap,
}

impl Schema {
    /// How often a guarded call suspends: as [`Builder::block_every`](super::Builder::block_every) has it, if that says
    /// anything.
    pub(super) fn block_every(self, asked: u32) -> u32 {
        match self {
            Schema::Heap if asked == 0 => 1,
            _ => asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Schema;

    #[test]
    fn block_every_goes_before_the_schema() {
        assert_eq!([0, 1, 3].map(|n| Schema::Auto.block_every(n)), [0, 1, 3]);
        assert_eq!([0, 1, 3].map(|n| Schema::Heap.block_every(n)), [1, 1, 3]);
    }
}
