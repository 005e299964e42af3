//! A complete binary tree of boxed nodes, built before the clock starts.

/// A node; `repr(C)` because the C++ columns walk the same tree.
#[repr(C)]
pub struct Node {
    /// The left subtree.
    pub left: Option<Box<Node>>,
    /// The right subtree.
    pub right: Option<Box<Node>>,
    /// This node's summand.
    pub value: u64,
}

impl Node {
    /// Builds a complete tree of `levels` levels: 2^levels - 1 nodes, each of value 1.
    ///
    /// A node is allocated between its subtrees. If it were allocated after both, as
    /// `Box::new` of the finished node would do, memory would hold the nodes exactly in
    /// the reverse of the order *node, right, left*. A column that visits the right
    /// subtree first (chili's `join` does, and g++ where it adds the two calls'
    /// results) would then stream through memory, several times as fast as a column
    /// that visits the left one first.
    pub fn complete(levels: u32) -> Option<Box<Self>> {
        let below = levels.checked_sub(1)?;
        let left = Self::complete(below);
        let mut node = Box::new(Self { left, right: None, value: 1 });
        node.right = Self::complete(below);
        Some(node)
    }

    /// Returns both subtrees, or `None` at a leaf, for which no column forks.
    #[inline]
    pub fn children(&self) -> Option<(&Self, &Self)> {
        Some((self.left.as_deref()?, self.right.as_deref()?))
    }
}
