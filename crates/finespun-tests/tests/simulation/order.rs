//! One-way calls from one method to one object arrive in order, also to an object of the same node, whose method may
//! leave the stack while the sender continues.

use std::time::Duration;

use finespun::prelude::*;
use finespun::runtime::{Fabric, Transport};
use finespun::simulation::Machine;
use finespun::tasks::quiesce;
use finespun::testing::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Receiver {
    next: Vec<u64>,
    /// Calls out of order: the sender, the expected number, and the number.
    wrong: Vec<(usize, u64, u64)>,
}

#[object]
impl Receiver {
    fn receive(&mut self, sender: usize, number: u64) {
        if self.next[sender] != number {
            self.wrong.push((sender, self.next[sender], number));
        }
        self.next[sender] = number + 1;
    }

    fn result(&self) -> (u64, Vec<(usize, u64, u64)>) {
        (self.next.iter().sum(), self.wrong.clone())
    }

    async fn send(this: Ref<Self>, receivers: Vec<Ref<Receiver>>, each: u64) {
        let from = Ref::node(this);
        for number in 0..each {
            for receiver in &receivers {
                receiver.receive(from, number).oneway().await;
            }
        }
    }
}

#[task]
async fn send_all(each: u64) -> Vec<(u64, Vec<(usize, u64, u64)>)> {
    let make = |node| on(node).create(Receiver { next: vec![0; nodes()], wrong: Vec::new() });
    let receivers = join_all((0..nodes()).map(make)).await;
    join_all(receivers.iter().map(|receiver| receiver.send(receivers.clone(), each))).await;
    quiesce().await;
    join_all(receivers.iter().map(|receiver| receiver.result())).await
}

/// A pulled message leaves its sender when pushed ones may still wait in the network.
#[test]
fn pulled_messages_do_not_overtake_pushed_ones() {
    for seed in 0..40 {
        let machine = Machine::named("manna").unwrap().seed(seed).buffers(4).pauses(Duration::from_micros(475));
        let builder = Runtime::builder().nodes(6).transport(Transport::Adaptive).encode(true);
        let runtime = builder.fabric(Fabric::Simulated(machine)).build().unwrap();
        assert_eq!(runtime.run(send_all(27)), vec![(6 * 27, Vec::new()); 6], "seed {seed}");
    }
}

#[test]
fn one_way_calls_arrive_in_order() {
    for seed in 0..6 {
        for (delay, buffers, outbox) in [(0, 64, 256), (6, 64, 256), (6, 1, 256), (0, 1, 2), (0, 64, 1)] {
            for transport in [Transport::Adaptive, Transport::Push, Transport::Pull] {
                for n in [0, 1, 2, 3] {
                    let machine = Machine::named("cluster").unwrap().seed(seed);
                    let machine = machine.delays(Duration::from_micros(delay)).buffers(buffers);
                    let builder = Runtime::builder().nodes(3).outbox(outbox).transport(transport).block_every(n);
                    let runtime = builder.fabric(Fabric::Simulated(machine)).build().unwrap();
                    let expected = vec![(3 * 24, Vec::new()); 3];
                    let how = (seed, delay, buffers, outbox, transport, n);
                    assert_eq!(runtime.run(send_all(24)), expected, "{how:?}");
                    assert_eq!(runtime.close(), 0, "{how:?}");
                }
            }
        }
    }
}
