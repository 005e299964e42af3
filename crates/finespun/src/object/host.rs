//! A worker's nodes and its mailbox: the part of its state that concerns objects and messages, not frames.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

use crate::frame::FrameRef;
use crate::frame::context::Cx;
use crate::message::mailbox::{Mailbox, Others, Travel, mailboxes};
use crate::message::packet::{Handler, Made, bytes_of, writer};
use crate::message::wire::Writer;
use crate::observe::CacheChoices;
use crate::run::continuation::Continuation;
use crate::sched::peers::Part;
use crate::sched::team::{Host, Waits};
use crate::sched::work::on_simulator;

use super::kept::Kept;
use super::overhead;
use super::reference::Name;
use super::remote::PendingCall;
use super::returning::Known;
use super::space::Space;
use super::table::Table;

/// The nodes of one worker.
#[repr(align(128))]
pub(crate) struct Nodes {
    /// The number of nodes on all workers.
    count: u32,
    /// The number of this worker among the workers of all processes, and the number of those.
    worker: u32,
    workers: u32,
    /// The tables of this worker's nodes. Node n belongs to worker n % workers, at index n / workers.
    tables: Box<[Table]>,
    /// An empty table, the current one of a worker without nodes.
    nowhere: Table,
    /// The address space of the tables, which are dropped before.
    _space: Arc<Space>,
    mailbox: Mailbox,
    /// A request that is deferred until a task waits for it (see [`remote`](super::remote)).
    pending_call: RefCell<Option<Box<dyn PendingCall>>>,
    /// Senders of one-way calls that wait for room in the outbox, in FIFO order.
    stalled: RefCell<VecDeque<Continuation<()>>>,
    /// Set once this worker has notified the team that messages are used.
    announced: Cell<bool>,
    /// The overhead that a message adds for its sender, and for its receiver, in nanoseconds.
    overhead: u64,
    /// The nanoseconds spent on `overhead`, and on work that is counted elsewhere. Time measurements in progress
    /// subtract both.
    aside: Cell<u64>,
    /// Senders of one-way calls wait while at least this many messages are in the outbox or wait for this worker's own
    /// nodes.
    outbox: usize,
    /// The decisions of the caches of this runtime's arrays.
    choices: Arc<CacheChoices>,
    /// Continuations that wait for answers from other processes.
    kept: Kept,
    /// The names of the last run or group in a message to or from another process.
    named: Cell<Option<Known>>,
}

/// Creates the hosts of the workers with these endpoints, a part of the workers over which `count` nodes are distributed.
/// Fails if there is no address space for their objects.
pub(crate) fn hosts(
    ends: Vec<Others>,
    count: usize,
    travel: &Travel,
    choices: &Arc<CacheChoices>,
    part: &Part,
) -> io::Result<Vec<Box<dyn Host>>> {
    let all = count;
    let count = count as u32;
    let Part { workers, ref own } = *part;
    let numbers = |worker| (worker..count).step_by(workers as usize);
    // One more is for workers without nodes, which never create an object.
    let regions = own.clone().map(|worker| numbers(worker).len()).sum::<usize>() + 1;
    let space = Arc::new(Space::reserve(regions, all)?);
    let mut given = 1;
    let nodes = |(worker, mailbox)| {
        // SAFETY: each node has a region of its own, in a space that outlives the table.
        let table = |node, region| unsafe { Table::new(node, space.region(region)) };
        let tables = numbers(worker).zip(given..).map(|(node, region)| table(node, region)).collect();
        given += numbers(worker).len();
        let nowhere = table(u32::MAX, 0);
        Ok(Box::new(Nodes {
            count,
            worker,
            workers,
            tables,
            nowhere,
            _space: Arc::clone(&space),
            mailbox,
            pending_call: RefCell::new(None),
            stalled: RefCell::new(VecDeque::new()),
            announced: Cell::new(false),
            overhead: travel.overhead.as_nanos().try_into().unwrap_or(u64::MAX),
            aside: Cell::new(0),
            outbox: travel.outbox,
            choices: Arc::clone(choices),
            kept: Kept::new(worker),
            named: Cell::new(None),
        }) as Box<dyn Host>)
    };
    own.clone().zip(mailboxes(ends, own.start as usize, travel)).map(nodes).collect()
}

impl Nodes {
    /// Spends nanoseconds in virtual time, or busy-waits and counts in `aside`.
    #[cold]
    fn spend(&self, nanoseconds: u64) {
        if on_simulator(|simulator| simulator.work(Duration::from_nanos(nanoseconds))).is_none() {
            self.put_aside(overhead::spend(nanoseconds));
        }
    }

    /// Adds nanoseconds that a time measurement in progress must subtract.
    pub(crate) fn put_aside(&self, nanoseconds: u64) {
        self.aside.set(self.aside.get().saturating_add(nanoseconds));
    }

    /// Returns the nanoseconds that have been put aside so far.
    pub(crate) fn aside(&self) -> u64 {
        self.aside.get()
    }

    /// Returns the overhead of a request and its answer, for senders and receivers together, in nanoseconds.
    pub(crate) fn overhead_of_request(&self) -> u64 {
        self.overhead.saturating_mul(4)
    }

    /// Returns the decisions of the caches of this runtime's arrays.
    pub(crate) fn choices(&self) -> &CacheChoices {
        &self.choices
    }

    /// Returns the nodes of the current worker.
    #[inline]
    pub(crate) fn of<'a>(cx: Cx) -> &'a Nodes {
        // SAFETY: `attach` has set the pointer, and the team keeps its hosts until the worker has ended.
        unsafe { &*cx.here().host.get() }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the node that this code runs at. A worker without nodes returns its number modulo the number of nodes.
    pub(crate) fn here(&self, cx: Cx) -> u32 {
        if self.tables.is_empty() { self.worker % self.count } else { cx.node() }
    }

    /// Returns whether this runtime has the node number that `name` contains. Even then the object may be another
    /// runtime's.
    #[inline]
    pub(crate) fn knows(&self, name: Name) -> bool {
        name.node() < self.count
    }

    /// Checks that the runtime has node `node`.
    ///
    /// # Panics
    /// If it does not.
    #[inline]
    pub(crate) fn check(&self, node: usize) {
        let nodes = self.count as usize;
        assert!(
            node < nodes,
            "there is no node {node}: this runtime has {nodes} nodes; set a larger number by `Builder::nodes`"
        );
    }

    /// Returns the table of one of this worker's nodes.
    #[inline]
    pub(crate) fn table(&self, node: u32) -> &Table {
        debug_assert_eq!(node % self.workers, self.worker);
        &self.tables[(node / self.workers) as usize]
    }

    /// Returns the table of one of this worker's nodes, usually the current one.
    #[inline]
    pub(crate) fn table_of<'a>(cx: Cx, node: u32) -> &'a Table {
        if node == cx.node() {
            // SAFETY: `show` has set the pointer, and the team keeps its hosts until the worker has ended.
            return unsafe { &*cx.here().table.get() };
        }
        Nodes::of(cx).table(node)
    }

    /// Returns whether `node` is one of this worker's.
    #[inline]
    pub(crate) fn hosts(&self, node: u32) -> bool {
        node < self.count && node % self.workers == self.worker
    }

    /// Returns the table of `node`, if it is one of this worker's.
    pub(crate) fn hosted(&self, node: u32) -> Option<&Table> {
        self.hosts(node).then(|| self.table(node))
    }

    /// Called after a write-once array has been added to `node`, which is one of this worker's. If it is the current node,
    /// refreshes the context's pointer to its arrays.
    #[inline]
    pub(crate) fn added(&self, cx: Cx, node: u32) {
        if cx.node() == node {
            self.show(cx, node);
        }
    }

    /// Sends a message to a worker. Always inlined, so that the message is made in one place and not copied.
    #[inline(always)]
    pub(crate) fn send<H: Handler>(&self, cx: Cx, worker: u32, handler: H) {
        cx.send_pending_call();
        if self.mailbox.is_plain() || worker == self.worker && !self.mailbox.encodes() {
            let elsewhere = if self.mailbox.weighs() { handler.bytes_elsewhere() } else { 0 };
            // SAFETY: the message is neither used nor dropped after the call.
            unsafe { self.post(cx, worker, &ManuallyDrop::new(Made::new(handler, elsewhere))) };
        } else {
            self.send_bytes(cx, worker, &mut writer(handler));
        }
    }

    /// For tests: returns the numbers of the continuations that this worker keeps.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.kept.numbers()
    }

    /// For tests: sends bytes to a worker in place of a message. Returns false if there is no room.
    pub(crate) fn forge(&self, cx: Cx, worker: u32, bytes: &[u8]) -> bool {
        let sent = self.mailbox.forge(worker as usize, bytes);
        if sent && worker != self.worker {
            cx.context().team().poke(worker);
        }
        sent
    }

    /// Returns whether messages within the process travel as bytes, those between this worker's own nodes included.
    #[inline]
    pub(crate) fn encodes(&self) -> bool {
        self.mailbox.encodes()
    }

    /// Spends the overhead of sender and receiver for data that reaches its receiver on this worker without a message.
    #[inline]
    pub(crate) fn charge(&self) {
        if self.overhead > 0 {
            self.spend(self.overhead.saturating_mul(2));
        }
    }

    /// Sends the message that `write` writes, to another process or as bytes within this one. Not generic, so that it is
    /// compiled once.
    #[inline(never)]
    fn send_bytes(&self, cx: Cx, worker: u32, write: &mut dyn FnMut(&mut Writer) -> bool) {
        if worker == self.worker || !self.mailbox.leaves_process() {
            if let Some(message) = Made::encoded(write) {
                // SAFETY: the message is neither used nor dropped after the call.
                unsafe { self.post(cx, worker, &ManuallyDrop::new(message)) };
            }
            return;
        }
        // Encodes the whole message before posting it: user encoders may panic.
        let Some(bytes) = bytes_of(write) else { return };
        self.announce(cx);
        self.mailbox.send_bytes(worker as usize, bytes, &cx.core().counters);
        cx.context().team().poke(worker);
    }

    /// Called before a message is sent.
    #[inline]
    fn announce(&self, cx: Cx) {
        if !self.announced.replace(true) {
            cx.context().team().use_nodes();
        }
        if self.overhead > 0 {
            self.spend(self.overhead);
        }
    }

    /// Posts a message to the mailbox, and wakes the receiver.
    ///
    /// # Safety
    /// The message is moved out: the caller neither uses nor drops it afterwards.
    #[inline(never)]
    unsafe fn post(&self, cx: Cx, worker: u32, message: &Made) {
        self.announce(cx);
        // SAFETY: the caller neither uses nor drops `message` afterwards.
        unsafe { self.mailbox.send(worker as usize, message, &cx.core().counters) };
        if worker != self.worker {
            cx.context().team().poke(worker);
        }
    }

    /// Returns whether senders of one-way messages have to wait for room. They wait as frames while the worker
    /// continues to receive, so every wait ends.
    pub(super) fn is_full(&self) -> bool {
        self.mailbox.to_do() >= self.outbox
    }

    /// Registers the continuation of a sender that waits for room in the outbox.
    pub(super) fn await_room(&self, k: Continuation<()>) {
        self.stalled.borrow_mut().push_back(k);
    }

    /// Defers a request until a task waits for `leaf`, the leaf of its continuation. Sends an earlier deferred request.
    pub(super) fn keep_pending_call(&self, cx: Cx, leaf: FrameRef, request: Box<dyn PendingCall>) {
        cx.send_pending_call();
        cx.set_pending_call(Some(leaf));
        self.pending_call.replace(Some(request));
    }

    /// Takes the deferred request, if it was deferred with `leaf`.
    pub(super) fn take_pending_call(&self, cx: Cx, leaf: FrameRef) -> Option<Box<dyn PendingCall>> {
        if cx.pending_call() != Some(leaf) {
            return None;
        }
        cx.set_pending_call(None);
        self.pending_call.take()
    }

    /// Returns the worker that hosts a node.
    #[inline]
    pub(crate) fn worker_of(&self, node: u32) -> u32 {
        node % self.workers
    }

    /// Returns the number of this worker.
    #[inline]
    pub(crate) fn worker(&self) -> u32 {
        self.worker
    }

    /// Returns the continuations that wait for answers from other processes.
    #[inline]
    pub(super) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Returns the names of the last run or group in a message to or from another process.
    #[inline]
    pub(super) fn named(&self) -> Option<Known> {
        self.named.get()
    }

    pub(super) fn set_named(&self, known: Known) {
        self.named.set(Some(known));
    }

    /// Returns whether the runtime has this worker.
    pub(super) fn is_worker(&self, worker: u32) -> bool {
        worker < self.workers
    }

    /// Makes `node` the current node. A number that no node has selects the empty table.
    fn show(&self, cx: Cx, node: u32) {
        let table = if node < self.count { self.table(node) } else { &self.nowhere };
        cx.core().node.set(node);
        table.show(cx.here());
    }
}

impl Host for Nodes {
    fn attach(&self, cx: Cx) {
        cx.here().host.set(self);
        // The worker's number is its first node; if the worker has no nodes, it is a number that no node has.
        cx.core().first_node.set(self.worker);
        self.show(cx, self.worker);
    }

    fn enter_node(&self, cx: Cx, node: u32) {
        self.show(cx, node);
    }

    #[inline]
    fn any(&self) -> bool {
        // Senders that wait for room must be resumed when the outbox has some.
        self.mailbox.any() || !self.stalled.borrow().is_empty()
    }

    fn holds(&self) -> bool {
        self.mailbox.holds()
    }

    fn is_stuck(&self) -> bool {
        self.mailbox.is_stuck()
    }

    fn poll(&self, cx: Cx, messages: usize, ready: &Cell<Option<FrameRef>>) -> bool {
        let mut some = self.mailbox.flush(&cx.core().counters, |to| cx.context().team().poke(to as u32));
        for _ in self.mailbox.to_do()..self.outbox {
            let Some(k) = self.stalled.borrow_mut().pop_front() else { break };
            k.resolve(());
            some = true;
        }
        for _ in 0..messages {
            if !self.mailbox.handle_one(cx) {
                break;
            }
            if self.overhead > 0 {
                self.spend(self.overhead);
            }
            some = true;
            if ready.get().is_some() {
                break;
            }
        }
        some
    }

    fn send_pending_call(&self, cx: Cx) {
        cx.set_pending_call(None);
        let pending_call = self.pending_call.take();
        if let Some(request) = pending_call {
            request.send(cx);
        }
    }

    fn rest(&self) {
        self.mailbox.rest();
    }

    fn awaited(&self, nudge: &mut dyn FnMut(u32) -> bool) {
        self.mailbox.awaited(nudge);
    }

    fn traffic(&self) -> (u64, u64) {
        self.mailbox.traffic()
    }

    fn waits(&self) -> bool {
        self.mailbox.waits()
    }

    fn has_arrived(&self) -> bool {
        self.mailbox.has_arrived()
    }

    fn report_waits(&self, waits: &mut Waits) {
        for table in &self.tables {
            table.report_waits(waits);
            table.arrays.report_waits(waits);
        }
    }

    fn sweep(&self, of_swept: &dyn Fn(u32) -> bool) {
        self.kept.forget_runs(of_swept);
    }

    unsafe fn discard_messages(&self) {
        self.mailbox.discard();
    }

    fn detach(&self, cx: Cx) {
        self.kept.forget_runs(|_| true);
        for (node, table) in self.tables.iter().enumerate() {
            self.show(cx, node as u32 * self.workers + self.worker);
            table.arrays.end();
            table.end();
        }
    }
}
