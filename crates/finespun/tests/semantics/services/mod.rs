//! Programs as they stand in services and tools: guards, errors, retries, caches, parsers, searches. Mostly unformatted.

/// The three versions of each program are compared.
macro_rules! programs {
    ($($kind:ident $name:ident($($argument:expr),* $(,)?);)+) => { $(
        #[test]
        fn $name() {
            versions!($kind, plain::$name($($argument),*), pinned::$name($($argument),*), automatic::$name($($argument),*));
        }
    )+ };
}

mod parsers;
mod pools;
mod short;
mod trees;
mod workers;
