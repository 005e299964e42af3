//! Senders that are faster than their receiver.

use std::time::{Duration, Instant};

use crate::common::{on_any_nodes, within_a_minute};
use finespun::prelude::*;
use finespun::testing::*;
use finespun::{runtime::Transport, tasks::quiesce};
use serde::{Deserialize, Serialize};

/// A message argument of 96 bytes.
type Load = [u64; 12];

/// A receiver of messages that also computes.
#[derive(Serialize, Deserialize)]
struct Receiver {
    taken: u64,
    sum: u64,
}

#[object]
impl Receiver {
    fn take(&mut self, load: Load) {
        self.taken += 1;
        self.sum = self.sum.wrapping_add(load.iter().sum());
    }

    fn taken(&self) -> (u64, u64) {
        (self.taken, self.sum)
    }

    /// Computes for a millisecond at a time until `all` messages have arrived.
    async fn compute(this: Ref<Self>, all: u64) {
        loop {
            let (taken, _) = this.taken().await;
            if taken == all {
                return;
            }
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(1) {
                std::hint::spin_loop();
            }
            yield_now().await;
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Sender;

#[object]
impl Sender {
    async fn flood(_this: Ref<Self>, to: Ref<Receiver>, messages: u64) {
        for k in 0..messages {
            to.take([k; 12]).oneway().await;
        }
    }
}

#[task]
async fn flood(senders: usize, messages: u64) {
    let to: Ref<Receiver> = on(0).create(Receiver { taken: 0, sum: 0 }).await;
    let all = senders as u64 * messages;
    // With two workers, the receiver is alone on its worker: all senders are on odd nodes.
    let sender = |k: usize| on(2 * k + 1).create(Sender);
    let senders: Vec<Ref<Sender>> = join_all((0..senders).map(sender)).await;
    let floods = join_all(senders.clone().into_iter().map(move |sender| sender.flood(to, messages)));
    join!(floods, to.compute(all));
    let (taken, sum) = to.taken().await;
    assert_eq!(taken, all, "none is lost");
    assert_eq!(sum, senders.len() as u64 * 12 * (messages * (messages - 1) / 2));
}

/// Returns the peak memory of this process in bytes. The system counts roughly, so a later reading may be slightly
/// lower.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn flooded(transport: Transport, messages: u64) {
    let runtime = Runtime::builder().workers(2).nodes(14).transport(transport).build().unwrap();
    let before = peak();
    let start = Instant::now();
    runtime.run(flood(7, messages));
    let (took, grown) = (start.elapsed(), peak().saturating_sub(before) >> 20);
    let stats = runtime.stats();
    println!("{transport:?}: {took:.2?}, {grown} MB; {} held, {} stalled", stats.messages_held, stats.sends_stalled);
    assert!(grown < 64, "{grown} MB for messages");
    assert!(messages <= 10_000 || stats.sends_stalled > 0, "senders wait");
    assert_eq!(runtime.close(), 0);
}

#[test]
fn seven_senders_to_a_slow_receiver() {
    within_a_minute(|| {
        for transport in [Transport::Push, Transport::Pull, Transport::Adaptive] {
            flooded(transport, 4_000);
        }
    });
}

#[test]
#[ignore = "half a minute in a release build"]
fn seven_million_messages_to_a_slow_receiver() {
    for transport in [Transport::Pull, Transport::Adaptive] {
        flooded(transport, 1_000_000);
    }
    // A ring accepts only a few messages each time the receiver polls it; the other transports exist for this load.
    flooded(Transport::Push, 50_000);
}

/// An object that relays each message to two others, for a given number of hops.
struct Relay {
    seen: u64,
}

#[object]
impl Relay {
    fn see(&mut self) {
        self.seen += 1;
    }

    fn seen(&self) -> u64 {
        self.seen
    }

    async fn relay(this: Ref<Self>, load: Load, others: [Ref<Relay>; 2], hops: u32) {
        this.see().await;
        if hops > 0 {
            for other in others {
                other.relay(load, [this, other], hops - 1).oneway().await;
            }
        }
    }
}

#[task]
async fn flood_each_other(hops: u32) -> u64 {
    let make = |_: ()| Relay { seen: 0 };
    let a: Ref<Relay> = on(0).create_with(make, ()).await;
    let b: Ref<Relay> = on(nodes() - 1).create_with(make, ()).await;
    let from_a = a.relay([1; 12], [b, b], hops).oneway();
    let from_b = b.relay([2; 12], [a, a], hops).oneway();
    join!(from_a, from_b);
    quiesce().await;
    let (one, other) = join!(a.seen(), b.seen());
    join!(Ref::free(a), Ref::free(b));
    one + other
}

/// A worker that waits for room keeps receiving; otherwise two workers would wait for each other.
#[test]
fn mutual_flooding_ends() {
    within_a_minute(|| {
        for workers in [1, 2, 4] {
            for transport in [Transport::Push, Transport::Pull, Transport::Adaptive] {
                let runtime = Runtime::builder().workers(workers).nodes(4).transport(transport).outbox(1);
                let runtime = runtime.build().unwrap();
                assert_eq!(runtime.run(flood_each_other(12)), 2 * ((1 << 13) - 1));
                assert_eq!(runtime.close(), 0);
            }
        }
    });
}

#[test]
fn mutual_flooding_ends_on_any_nodes() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(flood_each_other(4)), 2 * 31));
}
