//! The `?` operator in stack code: std's rules, as traits that can be named in stable Rust.

use std::convert::Infallible;
use std::ops::ControlFlow;

/// A type to which `?` can be applied.
pub trait TryLike {
    /// The type of the value that `?` delivers.
    type Output;
    /// The type that `?` returns early.
    type Residual;
    /// Separates the value from the early return.
    fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;
}

/// A return type of functions that use `?` on a type with the residual `R`.
pub trait FromResidualLike<R> {
    /// Converts the early return.
    #[track_caller]
    fn from_residual(residual: R) -> Self;
}

impl<T, E> TryLike for Result<T, E> {
    type Output = T;
    type Residual = Result<Infallible, E>;
    #[inline(always)]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T, E, F: From<E>> FromResidualLike<Result<Infallible, E>> for Result<T, F> {
    #[inline(always)]
    #[track_caller]
    fn from_residual(residual: Result<Infallible, E>) -> Self {
        match residual {
            Err(error) => Err(F::from(error)),
        }
    }
}

impl<T> TryLike for Option<T> {
    type Output = T;
    type Residual = Option<Infallible>;
    #[inline(always)]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(None),
        }
    }
}

impl<T> FromResidualLike<Option<Infallible>> for Option<T> {
    #[inline(always)]
    fn from_residual(_: Option<Infallible>) -> Self {
        None
    }
}

impl<B, C> TryLike for ControlFlow<B, C> {
    type Output = C;
    type Residual = ControlFlow<B, Infallible>;
    #[inline(always)]
    fn branch(self) -> ControlFlow<Self::Residual, C> {
        match self {
            ControlFlow::Continue(value) => ControlFlow::Continue(value),
            ControlFlow::Break(value) => ControlFlow::Break(ControlFlow::Break(value)),
        }
    }
}

impl<B, C> FromResidualLike<ControlFlow<B, Infallible>> for ControlFlow<B, C> {
    #[inline(always)]
    fn from_residual(residual: ControlFlow<B, Infallible>) -> Self {
        match residual {
            ControlFlow::Break(value) => ControlFlow::Break(value),
        }
    }
}
