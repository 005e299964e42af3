//! What a worker has beside its frames: its nodes, and its mailbox.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::fabric::threads::{Threads, threads};
use crate::message::mailbox::{Mailbox, Travel, mailboxes};
use crate::message::packet::{Handler, Made, Packet};
use crate::observe::CacheChoices;
use crate::sched::team::{Host, Waits};
use crate::task::context::{Context, Cx};
use crate::task::frame::{FrameRef, quietly};
use crate::task::suspend::Continuation;

use super::overhead;
use super::reference::Name;
use super::remote::Withheld;
use super::table::Table;

/// The nodes of one worker.
pub(crate) struct Nodes {
    /// How many nodes there are, on all workers.
    count: u32,
    worker: u32,
    workers: u32,
    /// Those of this worker: node n is the (n / workers)th of worker n % workers.
    tables: Box<[Table]>,
    /// What a worker without nodes sees.
    nowhere: Table,
    mailbox: Mailbox<Threads<Packet>>,
    /// A request that is sent when somebody waits for it.
    withheld: RefCell<Option<Box<dyn Withheld>>>,
    /// Senders of one-way calls that wait for room in the outbox, in their order.
    stalled: RefCell<VecDeque<Continuation<()>>>,
    /// The team knows that there are messages.
    announced: Cell<bool>,
    /// What a message costs its sender, and its receiver, in addition, in nanoseconds.
    overhead: u64,
    /// How long this worker has spent for that, and for whatever else is not counted twice when a time is taken, in nanoseconds.
    aside: Cell<u64>,
    /// Messages in the outbox above which senders wait.
    outbox: usize,
    /// What the caches of this runtime's arrays have decided.
    choices: Arc<CacheChoices>,
}

/// The nodes of each of so many workers.
pub(crate) fn hosts(workers: usize, count: usize, travel: &Travel, choices: &Arc<CacheChoices>) -> Vec<Box<dyn Host>> {
    let (workers, count) = (workers as u32, count as u32);
    let nodes = |(worker, mailbox)| {
        let tables = (worker as u32..count).step_by(workers as usize).map(Table::new).collect();
        let nowhere = Table::new(u32::MAX);
        Box::new(Nodes {
            count,
            worker: worker as u32,
            workers,
            tables,
            nowhere,
            mailbox,
            withheld: RefCell::new(None),
            stalled: RefCell::new(VecDeque::new()),
            announced: Cell::new(false),
            overhead: travel.overhead.as_nanos().try_into().unwrap_or(u64::MAX),
            aside: Cell::new(0),
            outbox: travel.outbox,
            choices: Arc::clone(choices),
        }) as Box<dyn Host>
    };
    mailboxes(threads(workers as usize, travel.transport), travel).into_iter().enumerate().map(nodes).collect()
}

impl Nodes {
    /// Spends so many nanoseconds.
    #[cold]
    fn spend(&self, nanoseconds: u64) {
        self.put_aside(overhead::spend(nanoseconds));
    }

    /// Nanoseconds that are not counted by whoever takes a time meanwhile.
    pub(crate) fn put_aside(&self, nanoseconds: u64) {
        self.aside.set(self.aside.get().saturating_add(nanoseconds));
    }

    /// What has been put aside so far, in nanoseconds.
    pub(crate) fn aside(&self) -> u64 {
        self.aside.get()
    }

    /// What a request and its answer cost their senders and receivers in addition, in nanoseconds.
    pub(crate) fn overhead_of_request(&self) -> u64 {
        self.overhead.saturating_mul(4)
    }

    /// What the caches of this runtime's arrays have decided.
    pub(crate) fn choices(&self) -> &CacheChoices {
        &self.choices
    }

    /// Those of the worker that runs this.
    #[inline]
    pub(crate) fn of<'a>(cx: Cx) -> &'a Nodes {
        // SAFETY: `attach` has set it, and the team keeps its hosts until the worker has ended.
        unsafe { &*cx.context().here.host.get().cast::<Nodes>() }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The node that this code runs at. A worker that has no node is a guest of one.
    pub(crate) fn here(&self, cx: Cx) -> u32 {
        if self.tables.is_empty() { self.worker % self.count } else { cx.node() }
    }

    /// Whether there is such a node as an object's name says: it may be another runtime's.
    pub(crate) fn knows(&self, name: Name) -> bool {
        name.node() < self.count
    }

    /// # Panics
    /// If there is no such node.
    pub(crate) fn check(&self, node: usize) {
        let nodes = self.count as usize;
        assert!(node < nodes, "there is no node {node}: this runtime has {nodes} nodes; say more by `Builder::nodes`");
    }

    /// A node of this worker's.
    #[inline]
    pub(crate) fn table(&self, node: u32) -> &Table {
        debug_assert_eq!(node % self.workers, self.worker);
        &self.tables[(node / self.workers) as usize]
    }

    /// Objects have been added to a node of this worker's: if this code runs there, it sees them.
    #[inline]
    pub(crate) fn added(&self, cx: Cx, node: u32) {
        if cx.node() == node {
            self.show(cx.context(), node);
        }
    }

    /// Sends a message to a worker.
    #[inline]
    pub(crate) fn send<H: Handler>(&self, cx: Cx, worker: u32, handler: H) {
        cx.send_withheld();
        if self.mailbox.encodes() {
            // Whole, before there is a place for it: the program's encoders may panic.
            if let Some(message) = Made::encoded(handler) {
                // SAFETY: not used any more.
                unsafe { self.post(cx, worker, &ManuallyDrop::new(message)) };
            }
        } else {
            // SAFETY: as above.
            unsafe { self.post(cx, worker, &ManuallyDrop::new(Made::new(handler))) };
        }
    }

    /// Whether messages to the nodes of this worker travel as those to others do.
    #[inline]
    pub(crate) fn encodes(&self) -> bool {
        self.mailbox.encodes()
    }

    /// What a message between two nodes costs both, where they are this worker's and there is none.
    #[inline]
    pub(crate) fn charge(&self) {
        if self.overhead > 0 {
            self.spend(self.overhead.saturating_mul(2));
        }
    }

    /// # Safety
    /// The message is moved out: it is not used, and not dropped, afterwards.
    #[inline(never)]
    unsafe fn post(&self, cx: Cx, worker: u32, message: &Made) {
        if !self.announced.replace(true) {
            cx.context().scheduler().use_nodes();
        }
        if self.overhead > 0 {
            self.spend(self.overhead);
        }
        // SAFETY: passed on.
        unsafe { self.mailbox.send(worker as usize, message, &cx.context().counters) };
        if worker != self.worker {
            cx.context().scheduler().poke(worker);
        }
    }

    /// Whether those that send without waiting for an answer have to wait for room. They wait as frames, and the worker
    /// goes on receiving, so nobody waits for ever.
    pub(super) fn is_full(&self) -> bool {
        self.mailbox.to_do() >= self.outbox
    }

    /// Somebody waits for room.
    pub(super) fn await_room(&self, k: Continuation<()>) {
        self.stalled.borrow_mut().push_back(k);
    }

    /// Keeps a request back until somebody waits for its leaf.
    pub(super) fn withhold(&self, cx: Cx, leaf: FrameRef, request: Box<dyn Withheld>) {
        cx.send_withheld();
        cx.set_withheld(Some(leaf));
        self.withheld.replace(Some(request));
    }

    /// The request that is withheld, if that is its leaf.
    pub(super) fn take_withheld(&self, cx: Cx, leaf: FrameRef) -> Option<Box<dyn Withheld>> {
        if cx.withheld() != Some(leaf) {
            return None;
        }
        cx.set_withheld(None);
        self.withheld.take()
    }

    /// The worker that hosts a node.
    #[inline]
    pub(crate) fn worker_of(&self, node: u32) -> u32 {
        node % self.workers
    }

    /// The number of this worker.
    #[inline]
    pub(crate) fn worker(&self) -> u32 {
        self.worker
    }

    fn show(&self, context: &Context, node: u32) {
        let table = if node < self.count { self.table(node) } else { &self.nowhere };
        context.here.node.set(node);
        table.show(&context.here);
    }
}

impl Host for Nodes {
    fn attach(&self, context: &Context) {
        context.here.host.set(std::ptr::from_ref(self).cast());
        // A worker without nodes is at one that is no object's, but is its own.
        context.here.first.set(self.worker);
        self.show(context, self.worker);
    }

    fn enter_node(&self, context: &Context, node: u32) {
        self.show(context, node);
    }

    #[inline]
    fn any(&self) -> bool {
        // Who waits for room is to be told when there is some.
        self.mailbox.any() || !self.stalled.borrow().is_empty()
    }

    fn is_stuck(&self) -> bool {
        self.mailbox.is_stuck()
    }

    fn poll(&self, cx: Cx, messages: usize, ready: &Cell<Option<FrameRef>>) -> bool {
        let mut some = self.mailbox.flush(&cx.context().counters, |to| cx.context().scheduler().poke(to as u32));
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

    fn send_withheld(&self, cx: Cx) {
        cx.set_withheld(None);
        let withheld = self.withheld.take();
        if let Some(request) = withheld {
            request.send(cx);
        }
    }

    fn rest(&self) {
        self.mailbox.rest();
    }

    fn waits(&self) -> bool {
        self.mailbox.waits()
    }

    fn tell_waits(&self, waits: &mut Waits) {
        for table in &self.tables {
            table.tell_waits(waits);
            table.seats.tell_waits(waits);
        }
    }

    fn detach(&self, context: &Context) {
        for (node, table) in self.tables.iter().enumerate() {
            self.show(context, node as u32 * self.workers + self.worker);
            table.seats.end();
            while let Some((class, object)) = table.take_any() {
                // A destructor's panic has nowhere to go.
                // SAFETY: the table owned it.
                quietly(|| unsafe { class.destroy(object) });
            }
        }
    }
}
