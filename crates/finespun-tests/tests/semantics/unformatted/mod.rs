//! Bodies in unusual formatting, one per line: patterns, ways out of loops, fragments of macros, signatures, coercions.
//! The files are kept unformatted by `#[rustfmt::skip]`.

#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::non_minimal_cfg,
    overlapping_range_endpoints,
    reason = "the bodies are odd on purpose, and their `unsafe` blocks hold no operation that is"
)]

/// Compiles functions that a macro writes as plain, as pinned, and as the compiler chooses, and tests each function.
macro_rules! written {
    ($make:ident: $($name:ident),+ $(,)?) => {
        mod plainly { use super::*; use crate::harness::plain::*; $make! {} }
        mod pinned { use super::*; use crate::harness::tasks::*; use finespun::task; $make! { #[task(pinned)] } }
        mod chosen { use super::*; use crate::harness::tasks::*; use finespun::task; $make! { #[task] } }
        $(#[test]
        fn $name() {
            versions!(owned, plainly::$name(), pinned::$name(), chosen::$name());
        })+
    };
}

#[rustfmt::skip]
mod kit;
#[rustfmt::skip]
mod shapes;

#[rustfmt::skip]
mod alone;
#[rustfmt::skip]
mod asyncs;
#[rustfmt::skip]
mod coerced;
#[rustfmt::skip]
mod coerced_more;
#[rustfmt::skip]
mod defined;
#[rustfmt::skip]
mod extended;
#[rustfmt::skip]
mod fields;
#[rustfmt::skip]
mod hygiene;
#[rustfmt::skip]
mod last;
#[rustfmt::skip]
mod leaving;
#[rustfmt::skip]
mod lending;
#[rustfmt::skip]
mod signs;
#[rustfmt::skip]
mod woven;
#[rustfmt::skip]
mod written;
