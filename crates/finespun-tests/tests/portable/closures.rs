//! Closures migrate: the program is the same, wherever its threads run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use finespun::closure::{Cont, Vector, make_closure, post, send_argument, tail_call, thread, top, top_of};
use finespun::prelude::*;
use finespun::testing::*;
use serde::{Deserialize, Serialize};

use super::{Bomb, Stays, over_processes, text_of, work};
use crate::common::{Launch, Shared, launched, within_a_minute};

#[thread(portable)]
fn fork(parent: Cont<u64>, n: u64) {
    if n < 2 {
        work(2);
        return send_argument(n, parent);
    }
    let k1 = make_closure!(sum, parent, _, _);
    post(make_closure!(fork, k1.x, n - 1));
    tail_call!(fork, k1.y, n - 2);
}

#[thread(portable)]
fn sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}

#[test]
fn posted_closures_migrate() {
    over_processes(|runtime| {
        for (n, fib) in [(1, 1), (12, 144), (19, 4181)] {
            assert_eq!(runtime.run(top(|k| post(make_closure!(fork, k, n)))), fib);
        }
    });
}

#[derive(Clone, Serialize, Deserialize)]
struct Word {
    text: String,
    weight: f64,
}

/// Arguments of all kinds, and results that are put together in order.
#[thread(portable)]
fn spell(parent: Cont<String>, word: Word, depth: u32, letters: Vector<char>) {
    if depth == 0 {
        work(20);
        let letters: String = letters.iter().collect();
        return send_argument(format!("{}{letters}{}", word.text, word.weight), parent);
    }
    let parts = make_closure!(concatenate, parent, '|', _[3]).parts;
    for (to, n) in parts.zip(0..3_u8) {
        let word = Word { text: format!("{}{n}", word.text), weight: word.weight / 3.0 };
        let more: Vec<char> = letters.iter().copied().chain([char::from(b'a' + n)]).collect();
        post(make_closure!(spell, to, word, depth - 1, more));
    }
}

#[thread(portable)]
fn concatenate(parent: Cont<String>, mark: char, parts: Vector<String>) {
    send_argument(format!("{}{mark}", parts.concat()), parent);
}

#[test]
fn arguments_of_all_kinds_travel() {
    fn plain(word: &Word, depth: u32, letters: &str) -> String {
        if depth == 0 {
            return format!("{}{letters}{}", word.text, word.weight);
        }
        let part = |n: u8| {
            let word = Word { text: format!("{}{n}", word.text), weight: word.weight / 3.0 };
            plain(&word, depth - 1, &format!("{letters}{}", char::from(b'a' + n)))
        };
        format!("{}|", [0, 1, 2].map(part).concat())
    }
    over_processes(|runtime| {
        let word = Word { text: "w".to_owned(), weight: 2.5 };
        let expected = plain(&word, 5, "xy");
        let spelt = top(|k| post(make_closure!(spell, k, word, 5, ['x', 'y'])));
        assert_eq!(runtime.run(spelt), expected);
    });
}

/// A tree of threads that send nothing.
#[thread(portable)]
fn strew(depth: u32) {
    STREWN.add(1);
    work(20);
    for _ in 0..3 * u32::from(depth > 0) {
        post(make_closure!(strew, depth - 1));
    }
}

static STREWN: Shared = Shared::new();

#[test]
fn a_computation_ends_after_all_threads_wherever_they_run() {
    over_processes(|runtime| {
        STREWN.swap(0);
        runtime.run(top(|k| {
            post(make_closure!(strew, 5));
            send_argument((), k);
        }));
        assert_eq!(STREWN.load(), 364);
    });
}

#[thread(portable)]
fn fails_at(parent: Cont<u64>, n: u64, at: u64) {
    work(50);
    assert!(n != at, "thread {n} has failed");
    send_argument(n, parent);
}

#[test]
fn a_panic_of_a_thread_is_its_computations() {
    over_processes(|runtime| {
        let all = |at| top_of(90, move |ks| ks.zip(0..).for_each(|(k, n)| post(make_closure!(fails_at, k, n, at))));
        assert_eq!(runtime.run(all(90)), (0..90).collect::<Vec<_>>());
        for at in [0, 40, 89] {
            let text = text_of(runtime.try_run(all(at)));
            assert!(text.contains(&format!("thread {at} has failed")), "{text}");
        }
    });
}

/// Sends to some continuations, and drops others.
#[thread(portable)]
fn drops_at(parent: Cont<u64>, n: u64, at: u64) {
    work(50);
    if n != at {
        send_argument(n, parent);
    }
}

#[thread(portable)]
fn total(parent: Cont<u64>, of: Vector<u64>) {
    send_argument(of.iter().sum(), parent);
}

#[test]
fn a_continuation_dropped_elsewhere_is_named_as_the_program_names_it() {
    over_processes(|runtime| {
        let all = |at| {
            top(move |k| {
                let of = make_closure!(total, k, _[60]).of;
                of.zip(0..).for_each(|(k, n)| post(make_closure!(drops_at, k, n, at)));
            })
        };
        assert_eq!(runtime.run(all(60)), 59 * 30);
        for at in [1, 33] {
            let text = text_of(runtime.try_run(all(at)));
            let expected = format!(
                "a computation of closures has no result: the argument `of[{at}]` of `total` was dropped unsent"
            );
            assert!(text.contains(&expected), "{text}");
        }
    });
}

#[thread(portable)]
fn holds(parent: Cont<()>, _it: Stays) {
    work(200);
    send_argument((), parent);
}

#[test]
fn an_argument_of_a_closure_that_cannot_be_encoded_is_a_panic_that_says_so() {
    within_a_minute(|| {
        let runtime = Runtime::builder().over(2, 2).workers(1).nodes(2).build().unwrap();
        let all = || top_of(40, |ks| ks.for_each(|k| post(make_closure!(holds, k, Stays))));
        // Until another process has asked in time.
        let text = (0..1000).find_map(|_| runtime.try_run(all()).err()).expect("a refusal").to_string();
        assert!(text.contains("Stays` could not be encoded"), "{text}");
        assert_eq!(runtime.close(), 0);
    });
}

#[thread(portable)]
fn adds(parent: Cont<u64>, n: u64, to: u64) {
    work(20);
    send_argument(n + to, parent);
}

/// Its closures stay, and so do the others of its computation, which may make such closures.
#[thread]
fn adds_shared(#[shared] amount: &AtomicU64, parent: Cont<u64>, n: u64) {
    post(make_closure!(adds, parent, n, amount.load(Ordering::Relaxed)));
}

#[test]
fn closures_of_computations_with_a_shared_value_stay() {
    within_a_minute(|| {
        let runtime = Runtime::builder().over(2, 2).workers(1).nodes(2).build().unwrap();
        for _ in 0..20 {
            let all = top_of(100, |ks| ks.zip(0..).for_each(|(k, n)| post(make_closure!(adds_shared, k, n))));
            let sums: Vec<u64> = runtime.run(all.sharing(Arc::new(AtomicU64::new(5))));
            assert_eq!(sums, (5..105).collect::<Vec<_>>());
        }
        assert_eq!(runtime.stats().tasks_migrated, 0);
        assert_eq!(runtime.close(), 0);
    });
}

/// Has a plain thread send the argument, later.
#[thread(portable)]
fn sends_later(parent: Cont<u64>, n: u64) {
    work(30);
    let doubled = make_closure!(sum, parent, n, _).y;
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_micros(300));
        send_argument(n, doubled);
    });
}

#[task]
async fn doubles(count: u64) -> Vec<u64> {
    // Something outside the tasks sends the arguments.
    let _outside = finespun::tasks::outside();
    top_of(count as usize, |ks| ks.zip(0..).for_each(|(k, n)| post(make_closure!(sends_later, k, n)))).await
}

#[test]
fn arguments_may_be_sent_from_outside_in_each_process() {
    over_processes(|runtime| {
        assert_eq!(runtime.run(doubles(60)), (0..60).map(|n| 2 * n).collect::<Vec<_>>());
    });
}

#[task]
async fn first_of_several() -> u64 {
    parfor(1..5_u64, first).await.expect_err("every activity ends the group")
}

#[task]
async fn first(k: u64) -> Result<(), u64> {
    Err(top(move |to| post(make_closure!(fork, to, 10 + k))).await)
}

#[test]
fn computations_of_terminated_groups_end_everywhere() {
    over_processes(|runtime| {
        for _ in 0..3 {
            let found = runtime.run(first_of_several());
            assert!([89, 144, 233, 377].contains(&found), "{found}");
            assert_eq!(runtime.run(top(|k| post(make_closure!(fork, k, 14)))), 377);
        }
    });
}

#[thread(portable)]
fn defuses(parent: Cont<u32>, bomb: Bomb) {
    work(60);
    let number = bomb.0;
    std::mem::forget(bomb);
    send_argument(number, parent);
}

#[test]
fn a_panic_of_a_destructor_where_a_closure_has_left_is_discarded() {
    over_processes(|runtime| {
        let all = top_of(60, |ks| ks.zip(0..).for_each(|(k, n)| post(make_closure!(defuses, k, Bomb(n)))));
        assert_eq!(runtime.run(all), (0..60).collect::<Vec<_>>());
    });
}

/// Posts itself again and again. Short: an older closure of its worker runs once in 62,000 turns.
#[thread(portable)]
fn for_ever(parent: Cont<u64>, n: u64) {
    work(1);
    post(make_closure!(for_ever, parent, n + 1));
}

#[thread(portable)]
fn fails_later(parent: Cont<u64>, n: u64) {
    work(200);
    assert!(n > 0, "the last one has failed");
    post(make_closure!(fails_later, parent, n - 1));
}

#[test]
fn a_panic_ends_what_runs_in_other_processes() {
    over_processes(|runtime| {
        let both = top_of(9, |mut ks| {
            let fails = ks.next().unwrap();
            ks.zip(0..).for_each(|(k, n)| post(make_closure!(for_ever, k, n)));
            // The closure that is posted last runs first. Until it ends, the others wait or migrate.
            post(make_closure!(fails_later, fails, 20));
        });
        let text = text_of(runtime.try_run(both));
        assert!(text.contains("the last one has failed"), "{text}");
    });
}

/// Continuations that the program keeps in a process.
static KEPT: Mutex<Vec<Cont<u64>>> = Mutex::new(Vec::new());

#[thread(portable)]
fn keeps(parent: Cont<u64>, n: u64) {
    work(100);
    // These are stolen first.
    if n < 20 {
        KEPT.lock().unwrap().push(parent);
        panic!("thread {n} has kept it");
    }
    send_argument(n, parent);
}

#[test]
fn a_panic_counts_even_if_a_continuation_is_kept() {
    if launched() {
        // Nothing would clear what the other processes keep.
        return;
    }
    over_processes(|runtime| {
        let all = top_of(40, |ks| ks.zip(0..).for_each(|(k, n)| post(make_closure!(keeps, k, n))));
        let text = text_of(runtime.try_run(all));
        assert!(text.contains("has kept it"), "{text}");
        KEPT.lock().unwrap().clear();
    });
}

/// One closure at a time: work that no other process can share.
#[thread(portable)]
fn spine(parent: Cont<u64>, n: u64) {
    if n == 0 {
        return send_argument(7, parent);
    }
    post(make_closure!(spine, parent, n - 1));
    work(20);
}

#[test]
fn the_only_closure_does_not_wander() {
    within_a_minute(|| {
        let runtime = Runtime::builder().over(2, 2).workers(1).nodes(2).build().unwrap();
        assert_eq!(runtime.run(top(|k| post(make_closure!(spine, k, 20_000)))), 7);
        let migrated = runtime.stats().tasks_migrated;
        assert!(migrated < 20, "{migrated} of 20000 closures have migrated");
        assert_eq!(runtime.close(), 0);
    });
}

#[thread(portable)]
fn makes(parent: Cont<Stays>) {
    work(100);
    send_argument(Stays, parent);
}

#[thread]
fn looks(_it: Stays) {}

/// The computation has a result without them.
#[test]
fn a_value_that_cannot_be_sent_home_is_a_panic_that_says_so() {
    within_a_minute(|| {
        let runtime = Runtime::builder().over(2, 2).workers(1).nodes(2).build().unwrap();
        let all = || {
            top(|k| {
                (0..40).for_each(|_| post(make_closure!(makes, make_closure!(looks, _)._it)));
                send_argument((), k);
            })
        };
        let text = (0..1000).find_map(|_| runtime.try_run(all()).err()).expect("one has migrated").to_string();
        assert!(text.contains("Stays") && text.contains("could not be encoded"), "{text}");
        assert_eq!(runtime.close(), 0);
    });
}

/// Drops an argument of a closure that it has made itself.
#[thread(portable)]
fn drops_own(parent: Cont<u64>, n: u64) {
    work(100);
    let holes = make_closure!(sum, parent, _, _);
    send_argument(n, holes.y);
    drop(holes.x);
}

#[test]
fn the_argument_that_was_dropped_first_is_named() {
    over_processes(|runtime| {
        let all = top_of(40, |ks| ks.zip(0..).for_each(|(k, n)| post(make_closure!(drops_own, k, n))));
        let text = text_of(runtime.try_run(all));
        assert!(text.contains("the argument `x` of `sum` was dropped unsent"), "{text}");
    });
}
