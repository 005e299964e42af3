//! The contract of [`Fabric`], as tests that every fabric passes.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;
#[cfg(feature = "simulation")]
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::adaptive::{self, Mode};
use super::{Endpoint, Fabric};
use crate::observe::Counters;

const WORKERS: usize = 4;
/// Messages from each worker to each worker.
const EACH: u64 = 2_000;
/// Few, so that sends fail.
const ROOM: u32 = 3;

/// A message: its sender, its number, and a count of the messages that have not been dropped.
type Message = Box<(usize, u64, Live)>;

/// Counts itself while it lives.
struct Live(Arc<AtomicU64>);

impl Live {
    fn new(count: &Arc<AtomicU64>) -> Live {
        count.fetch_add(1, Ordering::Relaxed);
        Live(Arc::clone(count))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends a message. Checks when `write` is called.
fn send(end: &Endpoint<Message>, to: usize, message: Message, counters: &Counters) -> Result<(), Message> {
    let (kept, calls) = (Cell::new(Some(message)), Cell::new(0));
    let write = |place: NonNull<Message>| {
        calls.set(calls.get() + 1);
        // SAFETY: the fabric's place is valid for a message.
        unsafe { place.write(kept.take().expect("`write` is called once")) };
    };
    // SAFETY: `write` initializes the place, and does not panic unless the fabric breaks its contract.
    let sent = unsafe { end.send_in_place(to, || 32, write, counters) };
    assert_eq!(calls.get(), i32::from(sent), "`write` is called if, and only if, the message is sent");
    kept.take().map_or(Ok(()), Err)
}

fn receive(end: &Endpoint<Message>) -> Option<Message> {
    // SAFETY: the message is moved out of its place, and no other message is received during the call.
    unsafe { end.receive_with(|place| place.read()) }
}

/// Sends `EACH` messages to every worker, and receives in between. `pause` lets the other workers go on.
fn exchange(index: usize, end: &Endpoint<Message>, live: &Arc<AtomicU64>, pause: &dyn Fn()) {
    let counters = Counters::default();
    let (mut sent, mut next, mut refused) = ([0; WORKERS], [0; WORKERS], 0);
    while sent != [EACH; WORKERS] || next != [EACH; WORKERS] {
        for (to, sent) in sent.iter_mut().enumerate().filter(|(_, sent)| **sent < EACH) {
            match send(end, to, Box::new((index, *sent, Live::new(live))), &counters) {
                Ok(()) => *sent += 1,
                Err(message) => {
                    assert_eq!((message.0, message.1), (index, *sent), "a message that is not sent comes back");
                    refused += 1;
                }
            }
        }
        match receive(end) {
            Some(message) => {
                let (from, number, _) = *message;
                assert_eq!(number, next[from], "in order, from each sender");
                next[from] += 1;
            }
            None => {
                end.rest();
                pause();
            }
        }
    }
    assert!(refused > 0, "so little room is never exhausted");
    assert_eq!(counters.messages_pushed.get() + counters.messages_pulled.get(), WORKERS as u64 * EACH);
    // A worker that stopped polling at once might keep the last buffer that another worker needs.
    for _ in 0..1000 {
        assert!(receive(end).is_none());
        pause();
    }
    assert!(!end.waits(), "nothing is on its way");
}

/// Sends without receiving until there is no room, on a fabric of two workers.
fn fill(end: &Endpoint<Message>, live: &Arc<AtomicU64>) {
    let counters = Counters::default();
    let mut sent = 0;
    while sent < 1000 && send(end, 1, Box::new((0, sent, Live::new(live))), &counters).is_ok() {
        sent += 1;
    }
    assert!(sent >= u64::from(ROOM) && sent < 1000, "{sent} messages without a receiver");
    assert_eq!(live.load(Ordering::Relaxed), sent);
}

fn threads(workers: usize, mode: Mode) -> Vec<Endpoint<Message>> {
    adaptive::net_of(workers, mode, ROOM, ROOM).into_iter().map(Endpoint::Threads).collect()
}

#[test]
fn threads_conform() {
    for mode in [Mode::Push, Mode::Pull, Mode::Both] {
        let live = Arc::default();
        thread::scope(|scope| {
            for (index, end) in threads(WORKERS, mode).into_iter().enumerate() {
                let live = &live;
                scope.spawn(move || exchange(index, &end, live, &thread::yield_now));
            }
        });
        assert_eq!(live.load(Ordering::Relaxed), 0);
        let ends = threads(2, mode);
        fill(&ends[0], &live);
        assert!(ends[1].waits() && ends[1].arrived() && !ends[0].waits());
        drop(ends);
        assert_eq!(live.load(Ordering::Relaxed), 0, "what is not received is dropped");
    }
}

#[cfg(feature = "simulation")]
mod simulated {
    use std::time::Duration;

    use corosensei::stack::DefaultStack;

    use super::*;
    use crate::fabric::simulated::simulated;
    use crate::fabric::threads::Transport;
    use crate::sim::engine::Engine;
    use crate::sim::{Machine, Simulator};

    const TRANSPORTS: [Transport; 3] = [Transport::Push, Transport::Pull, Transport::Adaptive];

    fn machine(name: &str) -> Machine {
        let machine = Machine::named(name).unwrap();
        machine.buffers(ROOM)
    }

    /// Runs `body` for each worker of a simulated machine.
    fn run(name: &str, workers: usize, transport: Transport, body: fn(usize, &Endpoint<Message>, &Engine)) {
        let engine = Arc::new(Engine::new(&machine(name), workers, 0, workers));
        let ends = simulated(workers, transport, &engine).into_iter().map(|end| Mutex::new(Some(end)));
        let ends: Vec<_> = ends.collect();
        let stacks = (0..workers).map(|_| DefaultStack::new(1 << 20).unwrap()).collect();
        let of_workers = Arc::clone(&engine);
        let main = move |worker: usize| {
            let end = ends[worker].lock().unwrap().take().unwrap();
            body(worker, &Endpoint::Simulated(end), &of_workers);
        };
        engine.run(stacks, Arc::new(main), Duration::from_secs(1), || {}, |_, _| {});
    }

    static LIVE: Mutex<Option<Arc<AtomicU64>>> = Mutex::new(None);

    fn live() -> Arc<AtomicU64> {
        Arc::clone(LIVE.lock().unwrap().get_or_insert_default())
    }

    #[test]
    fn simulated_machines_conform() {
        for name in Machine::names() {
            for transport in TRANSPORTS {
                run(name, WORKERS, transport, |index, end, engine| {
                    let pause = || {
                        engine.wait(Some(Duration::from_micros(10)));
                    };
                    exchange(index, end, &live(), &pause);
                });
                assert_eq!(live().load(Ordering::Relaxed), 0);
                run(name, 2, transport, |index, end, engine| {
                    if index == 0 {
                        return fill(end, &live());
                    }
                    // The first message arrives no earlier than the latency, and wakes its receiver then.
                    assert!(!end.arrived());
                    let before = engine.now();
                    engine.wait(None);
                    assert!(end.arrived() && engine.now() - before >= Duration::from_nanos(300));
                });
                assert_eq!(live().load(Ordering::Relaxed), 0, "what is not received is dropped");
            }
        }
    }
}
