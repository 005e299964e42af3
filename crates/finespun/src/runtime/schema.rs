//! The choice whether calls run on the stack first.

/// The treatment of calls.
///
/// This allows the comparison of the Concert papers (Plevyak, Karamcheti, Zhang, Chien: *A Hybrid Execution Model for
/// Fine-Grained Languages on Distributed Memory Multicomputers*, section 4; Karamcheti, Plevyak, Chien: *Runtime
/// Mechanisms for Efficient Dynamic Multithreading*, section 4.1, where `Heap` is the *base* version): the gain of
/// calling on the stack and making a frame only for a call that has to wait.
///
/// ```
/// use finespun::runtime::Schema;
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
/// // A run of fib(10) makes 177 calls.
/// assert!(frames(Schema::Auto)? < 177 && frames(Schema::Heap)? >= 177);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Schema {
    /// A call runs on the stack of its caller, and becomes a frame if it has to wait: the hybrid model. The schema that
    /// the compiler chose for each task applies.
    #[default]
    Auto,
    /// A call becomes a frame of its own, which is queued and run from the queue, and its caller waits for it: the
    /// papers' parallel-only version, a thread for each call. For comparisons only; a program's answer must not depend
    /// on it. Calls of straight tasks remain plain calls.
    Heap,
}

impl Schema {
    /// Returns the interval at which guarded calls suspend: `asked`, the value of `TestSettings::block_every`; if that
    /// is 0, then 1 for `Heap`, and 0 (never) for `Auto`.
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
    fn block_every_overrides_the_schema() {
        assert_eq!([0, 1, 3].map(|n| Schema::Auto.block_every(n)), [0, 1, 3]);
        assert_eq!([0, 1, 3].map(|n| Schema::Heap.block_every(n)), [1, 1, 3]);
    }
}
