//! Unbalanced Tree Search: the node generator of `finespun-apps`, kept out of line so
//! that every column, the C++ ones included, runs the same machine code.

pub use finespun_apps::uts::{Node, Tree};

/// Returns the number of children of `node`.
#[inline(never)]
pub fn children(tree: &Tree, node: &Node) -> u32 {
    tree.children(*node)
}

/// Returns the child with this number.
#[inline(never)]
pub fn child(tree: &Tree, node: &Node, number: u32) -> Node {
    tree.child(*node, number)
}
