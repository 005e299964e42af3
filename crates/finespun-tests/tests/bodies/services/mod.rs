//! Programs as they occur in services and tools: guards, errors, retries, caches, parsers, searches. Mostly
//! unformatted.

/// Expands the file's `bodies!`, which takes the attribute of its tasks, three times, and compares the versions of each
/// program.
macro_rules! programs {
    ($($kind:ident $name:ident($($argument:expr),* $(,)?);)+) => {
        mod plain {
            use super::*;
            use crate::harness::plain::*;
            bodies! {}
        }
        mod pinned {
            use super::*;
            use crate::harness::tasks::*;
            use finespun::task;
            bodies! { #[task(pinned)] }
        }
        mod automatic {
            use super::*;
            use crate::harness::tasks::*;
            use finespun::task;
            bodies! { #[task] }
        }
        $(
            #[test]
            fn $name() {
                versions!(
                    $kind,
                    plain::$name($($argument),*),
                    pinned::$name($($argument),*),
                    automatic::$name($($argument),*)
                );
            }
        )+
    };
}

mod cells;
mod common;
mod conditions;
mod engines;
mod kit;
mod named;
mod parsers;
mod plugins;
mod pools;
mod servers;
mod short;
mod trees;
mod workers;
