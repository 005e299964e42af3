//! Compile-time checks of operators beside an await, which need types.

/// Returns the left side of an assignment like `v[i] += f().await`. Compiles only if both sides are numbers: for
/// numbers rustc evaluates the left side after the right side, as generated code does; for an operator of a trait,
/// before it.
///
/// ```compile_fail,E0277
/// # use finespun::prelude::*;
/// # #[task]
/// # async fn name() -> &'static str {
/// #     yield_now().await;
/// #     "b"
/// # }
/// #[task]
/// async fn names(v: &mut Vec<String>) {
///     v[0] += name().await;
/// }
/// ```
///
/// The cure:
///
/// ```
/// # use finespun::prelude::*;
/// # #[task]
/// # async fn name() -> &'static str {
/// #     yield_now().await;
/// #     "b"
/// # }
/// #[task]
/// async fn names(v: &mut Vec<String>) {
///     let name = name().await;
///     v[0] += name;
/// }
/// let mut v = vec!["a".to_string()];
/// Runtime::new().unwrap().run(names(&mut v));
/// assert_eq!(v, ["ab"]);
/// ```
#[inline(always)]
pub fn numbers<'a, L: Number, R: Number>(left: &'a mut L, _: &R) -> &'a mut L {
    left
}

/// A type whose operators are built into the language.
#[diagnostic::on_unimplemented(
    message = "an assignment such as `v[i] += f().await` is compiled for numbers only",
    label = "this is no number, as far as is known here",
    note = "bind the result of the await with `let` first: then the await comes before the evaluation of the left \
            side; or choose `#[task(pinned)]`"
)]
pub trait Number {}

macro_rules! numbers {
    ($($number:ty)*) => { $(impl Number for $number {})* };
}
numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool);
