//! The leaf code as C functions, declared again in `cpp/peers.hpp`.
//!
//! The n-queens board is not here: it is a handful of instructions that each
//! language's compiler has to inline, so `cpp/peers.hpp` writes it again.

use super::{looped, matmul, uts};

/// C += A B for one tile each.
///
/// # Safety
///
/// Each points to [`matmul::TILE`] numbers, and nobody else uses C meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn peers_multiply_tile(c: *mut f64, a: *const f64, b: *const f64) {
    // SAFETY: the caller's promise, for C.
    let c = unsafe { std::slice::from_raw_parts_mut(c, matmul::TILE) };
    // SAFETY: the caller's promise, for A.
    let a = unsafe { std::slice::from_raw_parts(a, matmul::TILE) };
    // SAFETY: the caller's promise, for B.
    let b = unsafe { std::slice::from_raw_parts(b, matmul::TILE) };
    matmul::multiply_tile(c, a, b);
}

/// One activity of the loop.
#[unsafe(no_mangle)]
extern "C" fn peers_work(index: u64) -> u64 {
    looped::work(index)
}

/// What `cpp/peers.hpp` takes a node for.
const _: () = assert!(size_of::<uts::Node>() == 24 && align_of::<uts::Node>() == 4);

/// How many children the node has.
#[unsafe(no_mangle)]
extern "C" fn peers_uts_children(tree: &uts::Tree, node: &uts::Node) -> u32 {
    uts::children(tree, node)
}

/// Writes the child of that number to `child`.
///
/// # Safety
///
/// `child` points to room for a node.
#[unsafe(no_mangle)]
unsafe extern "C" fn peers_uts_child(
    tree: &uts::Tree,
    node: &uts::Node,
    number: u32,
    child: *mut uts::Node,
) {
    // SAFETY: the caller's promise.
    unsafe { child.write(uts::child(tree, node, number)) };
}
