//! A linked list, added up by naive recursion.
//!
//! One call per node and ten million nodes: what overflows any stack as plain recursion works as tasks, because a task that
//! comes near the end of the stack goes on from its frame in the heap. [`traverse`](fn@traverse) must come back through all
//! its callers (value + rest); [`traverse_forward`](fn@traverse_forward) carries the sum along and ends in a tail await, so
//! that nothing is left to come back to.
//!
//! [`List::build`]`(n)` holds 1, 2, ..., n, so the answer is n (n + 1) / 2.

use std::fmt;

use finespun::prelude::*;

/// A singly linked list of boxed nodes.
///
/// Dropping it frees the nodes in a loop; the compiler's own destructor would recurse once per node.
#[derive(Default)]
pub struct List {
    first: Option<Box<Node>>,
}

/// One element of a [`List`].
pub struct Node {
    value: u64,
    next: Option<Box<Node>>,
}

impl Node {
    /// The element.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The node behind this one.
    pub fn next(&self) -> Option<&Node> {
        self.next.as_deref()
    }
}

impl List {
    /// The list 1, 2, ..., n: 32 bytes per node with the allocator's share.
    pub fn build(n: usize) -> Self {
        let mut list = List::default();
        for value in (1..=n as u64).rev() {
            let next = list.first.take();
            list.first = Some(Box::new(Node { value, next }));
        }
        list
    }

    /// The first node.
    pub fn first(&self) -> Option<&Node> {
        self.first.as_deref()
    }

    /// The nodes from first to last.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        std::iter::successors(self.first(), |node| node.next())
    }
}

impl Drop for List {
    fn drop(&mut self) {
        let mut rest = self.first.take();
        while let Some(mut node) = rest {
            rest = node.next.take();
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List of {} nodes", self.iter().count())
    }
}

/// The sum of the list by naive recursion.
///
/// Uses stack in proportion to the length, so that ten million nodes overflow it and abort the process. An optimised build
/// may escape that: the compiler happens to know that `+` can be turned into an accumulator, and makes a loop of it.
/// [`plain_iterative`] needs no such luck, and neither does [`traverse`](fn@traverse).
pub fn plain(list: &List) -> u64 {
    fn rest(node: Option<&Node>) -> u64 {
        match node {
            None => 0,
            Some(node) => node.value + rest(node.next()),
        }
    }
    rest(list.first())
}

/// The sum of the list by a loop.
pub fn plain_iterative(list: &List) -> u64 {
    list.iter().map(Node::value).sum()
}

/// The sum of the list: each node adds its value to the sum of the rest.
///
/// Any length works; beyond the stack's share a suspended call costs one frame.
#[task]
pub async fn traverse(list: &List) -> u64 {
    rest(list.first()).await
}

/// The sum from `node` on.
#[task]
pub async fn rest(node: Option<&Node>) -> u64 {
    let Some(node) = node else { return 0 };
    let value: u64 = node.value;
    let sum: u64 = rest(node.next()).await;
    value + sum
}

/// The sum of the list, carried along in an argument: every await stands in tail position.
#[task]
pub async fn traverse_forward(list: &List) -> u64 {
    rest_forward(list.first(), 0).await
}

/// `sum` plus the sum from `node` on.
#[task]
pub async fn rest_forward(node: Option<&Node>, sum: u64) -> u64 {
    let Some(node) = node else { return sum };
    rest_forward(node.next(), sum + node.value).await
}

#[cfg(test)]
mod tests {
    use super::{List, plain, plain_iterative};

    #[test]
    fn sums_by_both_ways() {
        for n in [0, 1, 2, 1000] {
            let list = List::build(n);
            assert_eq!(plain(&list), (n * (n + 1) / 2) as u64);
            assert_eq!(plain_iterative(&list), (n * (n + 1) / 2) as u64);
            assert_eq!(list.iter().count(), n);
        }
    }

    #[test]
    fn dropping_a_long_list_needs_no_stack() {
        assert_eq!(plain_iterative(&List::build(1_000_000)), 500_000_500_000);
    }
}
