//! After `tests/ui/moves`, `tests/ui/borrowck` (those that run) and `tests/ui/nll`.

use crate::harness::*;

struct Pair {
    left: D,
    right: D,
    n: u64,
}

impl Pair {
    fn new() -> Pair {
        Pair { left: d("left"), right: d("right"), n: 3 }
    }

    fn into_left(self) -> D {
        self.left
    }

    fn with(self, left: D) -> Pair {
        Pair { left, ..self }
    }

    fn set(&mut self, n: u64) -> &mut Self {
        self.n = n;
        self
    }
}

corpus! {
    // move-out-of-field.rs
    fn field_moved_out_after_an_await() -> u64 {
        let pair = Pair::new();
        wait().await;
        let left = pair.left;
        log("left moved");
        left.len() + pair.n
    } with ();

    // move-1-unique.rs ... move-4.rs
    fn boxes_moved_along() -> u64 {
        let a = Box::new(d("a"));
        let b = a;
        wait().await;
        let c = Some(b);
        let e = leaf(c).await;
        e.map_or(0, |d| d.len())
    } with ();

    // move-arg.rs
    fn moved_into_calls_by_methods() -> u64 {
        let pair = Pair::new();
        let pair = pair.with(leaf(d("new")).await);
        log("replaced");
        let left = pair.into_left();
        wait().await;
        log("apart");
        left.len()
    } with ();

    fn builder_chain_with_awaits() -> u64 {
        let mut pair = Pair::new();
        pair.set(leaf(4).await).set(5);
        wait().await;
        let n = pair.set(leaf(6).await).n;
        n
    } with ();

    // move-into-dead-array, moves of elements
    fn vec_emptied_in_parts() -> u64 {
        let mut values = vec![d("0"), d("1"), d("2"), d("3")];
        let last = values.pop();
        wait().await;
        let first = values.remove(0);
        wait().await;
        let rest = values.split_off(1);
        log("split");
        drop(rest);
        wait().await;
        first.len() + last.map_or(0, |d| d.len())
    } with ();

    // moves-based-on-type-match-bindings.rs
    fn moved_by_one_arm_and_used_by_another(n: u64) -> u64 {
        let a = d("a");
        let b = d("b");
        let kept = match n {
            0 => a,
            1 => { wait().await; b }
            _ => { drop(b); wait().await; a }
        };
        log("kept");
        leaf(kept.len()).await
    } with (1);

    // issue-72649-uninit-in-loop.rs
    fn initialised_in_each_turn() -> u64 {
        let mut sum = 0;
        for i in 0..3 {
            let value;
            if i == 1 {
                value = leaf(N(10)).await;
            } else {
                value = N(i);
            }
            wait().await;
            sum += value.0;
        }
        sum
    } with ();

    fn moved_and_put_back_in_each_turn() -> u64 {
        let mut value = d("0");
        for i in 0..3u64 {
            let moved = value;
            wait().await;
            value = if i == 1 { drop(moved); d("1") } else { moved };
        }
        value.len()
    } with ();

    fn option_taken_and_put_back() -> u64 {
        let mut slot = Some(d("slot"));
        for _ in 0..2 {
            if let Some(value) = slot.take() {
                let value = leaf(value).await;
                log("back");
                slot = Some(value);
            }
        }
        slot.is_some() as u64
    } with ();

    // nll: borrows that end before an await
    fn borrow_ends_before_the_await() -> u64 {
        let mut values = vec![1, 2];
        let first = &mut values[0];
        *first += leaf(1).await;
        values.push(leaf(3).await);
        let sum: u64 = values.iter().sum();
        wait().await;
        values.clear();
        leaf(sum).await
    } with ();

    fn two_borrows_of_different_fields() -> u64 {
        let mut pair = (vec![1u64], vec![2u64]);
        let (a, b) = (&mut pair.0, &mut pair.1);
        wait().await;
        a.push(b[0]);
        b.push(leaf(3).await);
        a.append(b);
        pair.0.iter().sum::<u64>() + pair.1.len() as u64
    } with ();

    fn borrow_assigned_later() -> u64 {
        let x = d("x");
        let y = d("yy");
        let mut r = &x;
        wait().await;
        if leaf(true).await {
            r = &y;
        }
        wait().await;
        r.len()
    } with ();

    fn conditionally_moved_then_tested(n: u64) -> u64 {
        let a = d("a");
        let b = d("b");
        let chosen = if leaf(n).await > 1 { Some(a) } else { None };
        log("chosen");
        wait().await;
        if chosen.is_none() {
            wait().await;
            return b.len();
        }
        drop(chosen);
        log("gone");
        wait().await;
        2
    } with (2);

    // moves-based-on-type-no-recursive..., copies in closures and structs
    fn copies_stay_usable() -> u64 {
        #[derive(Clone, Copy)]
        struct Copied { a: u64, b: [u64; 2] }
        let x = Copied { a: 1, b: [2, 3] };
        let y = x;
        let Copied { a, b } = y;
        let z = Copied { a: leaf(a).await, ..x };
        wait().await;
        x.a + y.b[0] + z.b[1] + b[0]
    } with ();

    // clones made before moves
    fn value_moved_into_a_tuple_with_its_length() -> (u64, D) {
        let x = d("x");
        wait().await;
        (leaf(x.len()).await, x)
    } with ();

    fn value_moved_last_in_a_struct_of_awaits() -> u64 {
        let x = d("x");
        let pair = Pair { n: leaf(x.len()).await, left: leaf(d("l")).await, right: x };
        log("made");
        wait().await;
        pair.n
    } with ();

    // move-out-of-field.rs
    fn field_moved_out_before_an_await() -> u64 {
        let pair = Pair::new();
        drop(pair.left);
        wait().await;
        log("left is gone");
        pair.n
    } with ();

    fn field_moved_out_between_awaits() -> u64 {
        let pair = Pair::new();
        wait().await;
        let left = pair.left;
        wait().await;
        log("left moved");
        wait().await;
        left.len() + pair.n
    } with ();

    fn borrow_stored_in_a_collection() -> u64 {
        let x = d("x");
        let mut list: Vec<&D> = Vec::new();
        wait().await;
        list.push(&x);
        wait().await;
        list[0].len()
    } with ();

    fn state_handed_from_turn_to_turn() -> u64 {
        let mut state = (0u64, d("state"));
        for i in 0..3u64 {
            state = leaf((state.0 + i, state.1)).await;
        }
        wait().await;
        state.0
    } with ();
}
