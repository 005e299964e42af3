//! All kinds of signatures: each program is compiled as plain `async fn`, as pinned tasks and as tasks of the schema
//! that the compiler chooses, and `harness` compares its `body`.

/// Each program is a list of items: `both` are the same in all versions; `task` become tasks as a whole (a function, a
/// trait, an `impl`); `methods` is a head of an `impl` and methods that become tasks one by one; `plain_only` and
/// `task_only` are left out of the other versions.
macro_rules! programs {
    ($hash:tt $automatic:tt $pinned:tt $( $(#[$meta:meta])* $name:ident { $( $kind:ident { $($item:tt)* } )* } )*) => { $(
        mod $name {
            pub mod plain {
                use super::super::*;
                use crate::harness::plain::*;
                use std::pin::Pin;
                use std::sync::Arc;
                $( emit!(plain $kind () $($item)*); )*
            }
            pub mod pinned {
                use super::super::*;
                use crate::harness::tasks::*;
                use finespun::task;
                use std::pin::Pin;
                use std::sync::Arc;
                $( emit!(task $kind ($hash $pinned) $($item)*); )*
            }
            pub mod automatic {
                use super::super::*;
                use crate::harness::tasks::*;
                use finespun::task;
                use std::pin::Pin;
                use std::sync::Arc;
                $( emit!(task $kind ($hash $automatic) $($item)*); )*
            }
        }
        $(#[$meta])*
        #[test]
        fn $name() {
            versions!(owned, $name::plain::body(), $name::pinned::body(), $name::automatic::body());
        }
    )* };
}

// The attributes come from the caller: `self` in generated code has the hygiene of the attribute.
macro_rules! emit {
    ($version:ident both $attribute:tt $($item:tt)*) => { $($item)* };
    ($version:ident task ($($attribute:tt)*) $($item:tt)*) => { $($attribute)* $($item)* };
    ($version:ident methods $attribute:tt [$($head:tt)*] $($method:tt)*) => {
        $($head)* { $( emit_method!($attribute $method); )* }
    };
    (plain plain_only $attribute:tt $($item:tt)*) => { $($item)* };
    (plain task_only $attribute:tt $($item:tt)*) => {};
    (task plain_only $attribute:tt $($item:tt)*) => {};
    (task task_only $attribute:tt $($item:tt)*) => { $($item)* };
}

macro_rules! emit_method {
    (($($attribute:tt)*) { $($method:tt)* }) => { $($attribute)* $($method)* };
}

mod generics;
mod lints;
mod names;
mod objects;
mod outputs;
mod parameters;
mod receivers;
mod traits;
