//! The leaf functions that plain functions and tasks share, up to their attributes.

/// Defines the leaves; the arguments are the attributes of tasks of any schema, and of pinned ones. The calling module
/// provides `leaf` and `yield_now`.
macro_rules! leaves {
    ([$($task:tt)*] [$($pinned:tt)*]) => {
        /// Returns its argument after all other ready tasks have run.
        $($pinned)*
        pub async fn rest<V: Send>(value: V) -> V {
            yield_now().await;
            value
        }

        /// Returns its argument, and never waits.
        $($task)*
        pub async fn now<V: Send>(value: V) -> V {
            value
        }

        /// Like `rest`, but with events in the trace.
        $($pinned)*
        pub async fn call<V: Send>(t: T, value: V) -> V {
            t.log("call");
            yield_now().await;
            t.log("return");
            value
        }

        /// Reads a borrowed argument after a wait.
        $($pinned)*
        pub async fn look<X: Seen + Sync + ?Sized>(x: &X) -> u64 {
            yield_now().await;
            x.seen()
        }

        /// Reads a borrowed argument after a wait that does not suspend.
        $($pinned)*
        pub async fn glance<X: Seen + Sync + ?Sized>(x: &X) -> u64 {
            leaf(()).await;
            x.seen()
        }

        /// Changes a borrowed argument.
        $($pinned)*
        pub async fn alter(d: &mut D) -> u64 {
            d.0 = (d.0 + 7) % 1000;
            yield_now().await;
            d.1.log(format_args!("altered D{}", d.0));
            d.0
        }

        $($pinned)*
        pub async fn enter(t: T, k: u64) -> Section {
            yield_now().await;
            t.section(k)
        }

        $($pinned)*
        pub async fn fall(t: T, k: u64) -> u64 {
            t.log("fall");
            yield_now().await;
            if k % 4 == 3 {
                panic!("fell at {k}");
            }
            k
        }

        $($task)*
        pub async fn try_d(t: T, k: u64) -> Result<D, D> {
            leaf(t.attempt(k)).await
        }

        $($task)*
        pub async fn maybe(t: T, k: u64) -> Option<D> {
            leaf(t.pick(k)).await
        }

        $($task)*
        pub async fn checked(t: T, k: u64) -> Result<u64, D> {
            leaf(t.checked(k)).await
        }

        $($task)*
        pub trait Peek {
            async fn peek(&self) -> u64;
            async fn spend(self) -> u64;
        }

        $($task)*
        impl Peek for D {
            async fn peek(&self) -> u64 {
                leaf(()).await;
                self.seen()
            }

            async fn spend(self) -> u64 {
                rest(self.0).await
            }
        }
    };
}
