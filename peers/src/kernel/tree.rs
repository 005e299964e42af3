//! A complete binary tree of boxed nodes, built before the clock starts.

/// A node; `repr(C)`, since the C++ columns walk the same tree.
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
    /// A complete tree of `levels` levels, hence 2^levels - 1 nodes, each of value 1.
    pub fn complete(levels: u32) -> Option<Box<Self>> {
        (levels > 0).then(|| {
            Box::new(Self {
                left: Self::complete(levels - 1),
                right: Self::complete(levels - 1),
                value: 1,
            })
        })
    }

    /// Both subtrees, or `None` at a leaf, which no column forks for.
    #[inline]
    pub fn children(&self) -> Option<(&Self, &Self)> {
        Some((self.left.as_deref()?, self.right.as_deref()?))
    }
}
