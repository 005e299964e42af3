//! The leaf code as C functions, declared again in `cpp/peers.hpp`.
//!
//! The n-queens board is not exported: it is a handful of instructions that each
//! language's compiler must inline, so `cpp/peers.hpp` implements it again.

use super::{looped, matmul, uts};

/// Computes C += A B for one tile each.
///
/// # Safety
///
/// Each pointer points to [`matmul::TILE`] numbers, and no other code uses C during the
/// call.
#[unsafe(no_mangle)]
unsafe extern "C" fn peers_multiply_tile(c: *mut f64, a: *const f64, b: *const f64) {
    // SAFETY: the caller guarantees that `c` points to `TILE` numbers that no other
    // code uses.
    let c = unsafe { std::slice::from_raw_parts_mut(c, matmul::TILE) };
    // SAFETY: the caller guarantees that `a` points to `TILE` numbers.
    let a = unsafe { std::slice::from_raw_parts(a, matmul::TILE) };
    // SAFETY: the caller guarantees that `b` points to `TILE` numbers.
    let b = unsafe { std::slice::from_raw_parts(b, matmul::TILE) };
    matmul::multiply_tile(c, a, b);
}

/// Runs one activity of the loop.
#[unsafe(no_mangle)]
extern "C" fn peers_work(index: u64) -> u64 {
    looped::work(index)
}

/// The layout of a node that `cpp/peers.hpp` assumes.
const _: () = assert!(size_of::<uts::Node>() == 24 && align_of::<uts::Node>() == 4);

/// Returns the number of children of the node.
#[unsafe(no_mangle)]
extern "C" fn peers_uts_children(tree: &uts::Tree, node: &uts::Node) -> u32 {
    uts::children(tree, node)
}

/// Writes the child with this number to `child`.
///
/// # Safety
///
/// `child` is valid for the write of a node.
#[unsafe(no_mangle)]
unsafe extern "C" fn peers_uts_child(tree: &uts::Tree, node: &uts::Node, number: u32, child: *mut uts::Node) {
    // SAFETY: the caller guarantees that `child` is valid for the write of a node.
    unsafe { child.write(uts::child(tree, node, number)) };
}
