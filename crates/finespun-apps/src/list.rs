//! A linked list, added up by naive recursion.
//!
//! One call per node and ten million nodes: plain recursion of this depth overflows any stack, but tasks do not,
//! because a task near the end of the stack continues from its frame in the heap. [`traverse`](fn@traverse) must return
//! through all its callers (value + rest); [`traverse_forward`](fn@traverse_forward) passes the sum as an argument and
//! ends in a tail await, so no caller has work left to do.
//!
//! [`List::build`]`(n)` holds 1, 2, ..., n, so the answer is n (n + 1) / 2.

use std::fmt;

use finespun::prelude::*;

/// A singly linked list of boxed nodes.
///
/// Dropping a list frees the nodes in a loop; the compiler's destructor would recurse once per node.
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
    /// Returns the element.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Returns the node after this one.
    pub fn next(&self) -> Option<&Node> {
        self.next.as_deref()
    }
}

impl List {
    /// Makes the list 1, 2, ..., n: 32 bytes per node with the allocator's share.
    pub fn build(n: usize) -> Self {
        let mut list = List::default();
        for value in (1..=n as u64).rev() {
            let next = list.first.take();
            list.first = Some(Box::new(Node { value, next }));
        }
        list
    }

    /// Returns the first node.
    pub fn first(&self) -> Option<&Node> {
        self.first.as_deref()
    }

    /// Returns an iterator over the nodes from first to last.
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

/// Returns the sum of the list by naive recursion.
///
/// Uses stack in proportion to the length, so ten million nodes overflow it and abort the process. An optimised build
/// may avoid this: the compiler can turn `+` into an accumulator and the recursion into a loop. [`plain_iterative`] and
/// [`traverse`](fn@traverse) do not depend on this optimisation.
pub fn plain(list: &List) -> u64 {
    fn rest(node: Option<&Node>) -> u64 {
        match node {
            None => 0,
            Some(node) => node.value + rest(node.next()),
        }
    }
    rest(list.first())
}

/// Returns the sum of the list by a loop.
pub fn plain_iterative(list: &List) -> u64 {
    list.iter().map(Node::value).sum()
}

/// Returns the sum of the list: each node adds its value to the sum of the rest.
///
/// Any length works; beyond the stack limit, each suspended call costs one frame.
#[task]
pub async fn traverse(list: &List) -> u64 {
    rest(list.first()).await
}

/// Returns the sum from `node` on.
#[task]
pub async fn rest(node: Option<&Node>) -> u64 {
    let Some(node) = node else { return 0 };
    let value: u64 = node.value;
    let sum: u64 = rest(node.next()).await;
    value + sum
}

/// Returns the sum of the list, passed along in an argument: every await is in tail position.
#[task]
pub async fn traverse_forward(list: &List) -> u64 {
    rest_forward(list.first(), 0).await
}

/// Returns `sum` plus the sum from `node` on.
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
