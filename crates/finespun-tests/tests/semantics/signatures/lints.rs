//! Generated code causes no warnings that the plain function would not cause, and puts no unsafe code into the user's
//! code.

mod clean {
    #![deny(warnings, unused, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
    #![deny(elided_lifetimes_in_paths, unused_qualifications, single_use_lifetimes, trivial_casts, unused_results)]
    #![deny(clippy::unwrap_used, clippy::shadow_unrelated, clippy::missing_errors_doc)]
    #![allow(clippy::unused_async, reason = "as for plain functions")]
    #![forbid(unsafe_code)]

    use finespun::prelude::*;

    #[task]
    async fn number(n: u64) -> u64 {
        yield_now().await;
        n
    }

    #[task]
    async fn nothing() {}

    #[task]
    async fn loops(list: &[u64], mut bound: u64) -> u64 {
        let mut sum = 0;
        for &x in list {
            if x > bound {
                continue;
            }
            sum += number(x).await;
            bound += 1;
        }
        while sum > 10 {
            sum -= number(1).await;
        }
        sum
    }

    #[task]
    async fn fallible(text: &str) -> Result<u64, std::num::ParseIntError> {
        let n: u64 = text.parse()?;
        let Some(m) = n.checked_sub(1) else {
            return Ok(0);
        };
        let (a, b) = join!(number(n), number(m));
        Ok(a + b)
    }

    #[task]
    async fn early(n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let kept = [n];
        let m = number(n).await;
        match kept.first() {
            Some(first) => number(*first).await + m,
            None => unreachable!(),
        }
    }

    #[task]
    async fn pinned_by_a_borrow() -> usize {
        let values = [1, 2, 3];
        let slice = &values[1..];
        let _: u64 = number(1).await;
        slice.len()
    }

    struct Holder<T> {
        value: T,
    }

    #[task]
    impl<T: Clone + Send + Sync> Holder<T> {
        async fn get(&self) -> T {
            nothing().await;
            self.value.clone()
        }

        async fn set(&mut self, value: T) -> &mut Self {
            self.value = value;
            nothing().await;
            self
        }

        async fn into_inner(self) -> T {
            yield_now().await;
            self.value
        }
    }

    #[task]
    trait Shape: Sync {
        async fn area(&self, scale: u64) -> u64;
        async fn twice(&self) -> u64 {
            self.area(1).await * 2
        }
    }

    #[task]
    impl Shape for Holder<u64> {
        async fn area(&self, scale: u64) -> u64 {
            number(scale).await * self.value
        }
    }

    #[test]
    fn denied_warnings_do_not_appear() {
        let Ok(runtime) = Runtime::builder().workers(1).build() else { panic!("a runtime") };
        assert_eq!(runtime.run(loops(&[1, 2, 30], 5)), 3);
        assert_eq!(runtime.run(fallible("3")), Ok(5));
        assert_eq!(runtime.run(early(2)), 4);
        assert_eq!(runtime.run(pinned_by_a_borrow()), 2);
        let mut holder = Holder { value: 3 };
        assert_eq!(runtime.run(holder.set(4)).value, 4);
        assert_eq!(runtime.run(holder.twice()), 8);
        assert_eq!(runtime.run(holder.get()), 4);
        assert_eq!(runtime.run(holder.into_inner()), 4);
    }
}

/// rustc's warnings about a plain function also appear for the task.
mod expected {
    #![deny(warnings, unused)]

    use finespun::prelude::*;

    #[task]
    #[expect(unused_variables, reason = "the parameter is not used")]
    async fn unused_parameter(n: u64) -> u64 {
        yield_now().await;
        1
    }

    #[task]
    #[expect(unused_variables, reason = "the local is not used")]
    async fn unused_local() -> u64 {
        let n = 3;
        yield_now().await;
        1
    }

    #[task]
    #[expect(unused_mut, reason = "the local is not changed")]
    async fn unused_mut() -> u64 {
        let mut n = 3;
        yield_now().await;
        n
    }

    #[task]
    #[expect(unreachable_code, reason = "after a return")]
    async fn unreachable_code() -> u64 {
        yield_now().await;
        return 1;
        yield_now().await;
        2
    }

    #[task]
    #[expect(unused_assignments, reason = "the value is overwritten before it is read")]
    async fn unused_assignment(mut n: u64) -> u64 {
        n = 1;
        yield_now().await;
        n = 2;
        n
    }

    #[task]
    #[expect(unused_must_use, reason = "a result is ignored")]
    async fn unused_result() -> u64 {
        yield_now().await;
        "3".parse::<u64>();
        1
    }

    #[task]
    #[expect(non_snake_case, reason = "the name of a parameter")]
    async fn names(Value: &u64) -> u64 {
        yield_now().await;
        *Value
    }

    #[task]
    async fn deferred(sum: u64) -> u64 {
        let late;
        if {
            yield_now().await;
            sum
        } > 3
        {
            late = 1;
        } else {
            yield_now().await;
            late = 2;
        }
        sum + late
    }

    #[test]
    fn expected_warnings_appear() {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let sum = runtime.run(unused_parameter(1)) + runtime.run(unused_local()) + runtime.run(unused_mut());
        let sum =
            sum + runtime.run(unreachable_code()) + runtime.run(unused_assignment(1)) + runtime.run(unused_result());
        assert_eq!(sum, 9);
    }
}
