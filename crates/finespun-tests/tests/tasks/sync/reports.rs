//! Deadlock reports of waits for locks, channels and others.

use crate::common::within_a_minute;
use finespun::RunError;
use finespun::prelude::*;
use finespun::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, mpsc, oneshot, watch};

fn lines<T>(workers: usize, task: T) -> Vec<String>
where
    T: Task + Send,
    T::Output: Send,
{
    let runtime = Runtime::builder().workers(workers).build().unwrap();
    match runtime.try_run(task) {
        Err(RunError::Deadlock(lines)) => lines.to_vec(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("no deadlock"),
    }
}

/// Returns a place in this file as reports show it, without the column.
fn place(line: u32) -> String {
    format!("reports.rs:{line}:")
}

/// Requests `second` while it holds `first`: in lines that the test names.
#[task]
async fn one_then_two(one: &Mutex<()>, two: &Mutex<()>, meet: &Barrier) {
    let _one = one.lock().await;
    meet.wait().await;
    let _two = two.lock().await;
}

#[task]
async fn two_then_one(one: &Mutex<()>, two: &Mutex<()>, meet: &Barrier) {
    let _two = two.lock().await;
    meet.wait().await;
    let _one = one.lock().await;
}

#[task]
async fn embrace(one: &Mutex<()>, two: &Mutex<()>, meet: &Barrier) {
    join!(one_then_two(one, two, meet), two_then_one(one, two, meet));
}

#[test]
fn a_cycle_of_two_locks_names_both_holders() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let made = line!() + 1;
            let (one, two) = (Mutex::new(()), Mutex::new(()));
            let found = lines(workers, embrace(&one, &two, &Barrier::new(2)));
            assert_eq!(found.len(), 2, "{found:?}");
            // The lines of `one_then_two` and `two_then_one`.
            let (first, second) = (29, 36);
            for (name, own, other) in [("one_then_two", first, second), ("two_then_one", second, first)] {
                let line = found.iter().find(|line| line.contains(name)).unwrap();
                let expected = format!("{name} waits for the Mutex made at ");
                assert!(line.contains(&expected) && line.contains(&place(made)), "{line}");
                assert!(line.contains("which was locked at ") && line.contains(&place(other)), "{line}");
                let at = &line[line.rfind(", at ").unwrap()..];
                assert!(at.contains(&place(own + 2)), "{line}");
            }
        }
    });
}

#[task]
async fn wait_for_read(lock: &RwLock<u64>) -> u64 {
    let _held = lock.write().await;
    let again = lock.read().await;
    *again
}

#[task]
async fn wait_for_write(lock: &RwLock<u64>) {
    let _held = lock.read().await;
    *lock.write().await += 1;
}

#[task]
async fn wait_for_permits(semaphore: &Semaphore) {
    let _one = semaphore.acquire().await;
    let _four = semaphore.acquire_many(4).await;
}

#[task]
async fn wait_for_notification(notify: &Notify) {
    notify.notified().await;
}

#[task]
async fn wait_at_barrier(barrier: &Barrier) {
    barrier.wait().await;
}

#[task]
async fn itself(cell: &OnceCell<u64>) -> u64 {
    *cell.get_or_init(|| itself_again(cell)).await
}

#[task]
async fn itself_again(cell: &OnceCell<u64>) -> u64 {
    *cell.get_or_init(|| async_seven()).await
}

#[task]
async fn async_seven() -> u64 {
    7
}

#[task]
async fn receive_own() -> Option<u64> {
    let (_to, mut from) = mpsc::channel(1);
    from.recv().await
}

#[task]
async fn send_own() {
    let (to, _from) = mpsc::channel(1);
    to.send(1).await.unwrap();
    to.send(2).await.unwrap();
}

#[task]
async fn closed_own() {
    let (to, _from) = mpsc::unbounded_channel::<u64>();
    to.closed().await;
}

#[task]
async fn answer_own() -> u64 {
    let (to, from) = oneshot::channel();
    let answer = from.await.unwrap_or(0);
    let _ = to.send(1);
    answer
}

#[task]
async fn change_own() {
    let (_to, mut from) = watch::channel(0);
    from.changed().await.unwrap();
}

#[test]
fn each_wait_is_reported_by_kind_and_place() {
    within_a_minute(|| {
        let check = |found: Vec<String>, expected: &[&str]| {
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(", at ") && found[0].contains("reports.rs:"), "{found:?}");
            for part in expected {
                assert!(found[0].contains(part), "{found:?} has no {part}");
            }
        };
        let (lock, locked) = (RwLock::new(0), "which was locked at");
        check(lines(1, wait_for_read(&lock)), &["wait_for_read waits for read access to the RwLock made at ", locked]);
        check(lines(1, wait_for_write(&lock)), &["wait_for_write waits for write access to the RwLock ", locked]);
        check(lines(1, wait_for_permits(&Semaphore::new(3))), &["waits for permits of the Semaphore", "(2 free)"]);
        check(lines(1, wait_for_notification(&Notify::new())), &["waits for a notification of the Notify made at "]);
        check(
            lines(1, wait_at_barrier(&Barrier::new(3))),
            &["waits for the Barrier made at ", "(1 of 3 have arrived)"],
        );
        let began = "whose initialisation began at";
        check(lines(1, itself(&OnceCell::new())), &["itself_again waits for the OnceCell made at ", began]);
        check(lines(1, receive_own()), &["waits for a message of the mpsc channel made at", "(0 messages, 1 senders)"]);
        check(lines(1, send_own()), &["send_own waits for room in the mpsc channel", "(1 messages, 1 senders)"]);
        check(lines(1, closed_own()), &["waits for the end of the receiver of the mpsc channel"]);
        check(lines(1, answer_own()), &["waits for the value of the oneshot channel"]);
        check(lines(1, change_own()), &["waits for a change of the watch channel"]);
    });
}

#[task]
async fn receive(from: &mut mpsc::Receiver<u64>) -> Option<u64> {
    from.recv().await
}

#[task]
async fn send_then_stop(to: mpsc::Sender<u64>, never: &Semaphore) {
    to.send(1).await.unwrap();
    never.acquire().await.forget();
}

#[task]
async fn both_stop(to: mpsc::Sender<u64>, mut from: mpsc::Receiver<u64>, never: &Semaphore) {
    let (_, ()) = join!(receive_twice(&mut from), send_then_stop(to, never));
}

#[task]
async fn receive_twice(from: &mut mpsc::Receiver<u64>) {
    assert_eq!(receive(from).await, Some(1));
    let _ = receive(from).await;
}

/// The ends were made outside, and tasks have used both since.
#[test]
fn ends_that_only_waiting_tasks_hold_are_a_deadlock() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let (to, from) = mpsc::channel(1);
            let found = lines(workers, both_stop(to, from, &Semaphore::new(0)));
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found.iter().any(|line| line.contains("waits for a message")), "{found:?}");
        }
    });
}
