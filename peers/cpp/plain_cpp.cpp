// The plain recursion in C++: what its compiler makes of each problem without any
// runtime. Read the C++ runtimes beside this column.
#include "peers.hpp"

namespace {

std::uint64_t fib(std::uint64_t n) {
    if (n < 2) return n;
    return fib(n - 1) + fib(n - 2);
}

std::uint64_t skynet(std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) return first;
    std::uint64_t part = leaves / FAN_OUT, sum = 0;
    for (std::uint64_t i = 0; i < FAN_OUT; ++i) sum += skynet(first + i * part, part);
    return sum;
}

void each(std::atomic<std::uint64_t>* places, std::size_t activities) {
    for (std::size_t i = 0; i < activities; ++i) activity(places, i);
}

std::uint64_t queens(std::uint8_t n, Board board) {
    if (board.rows == n) return 1;
    std::uint64_t sum = 0;
    for (std::uint8_t column = 0; column < n; ++column)
        if (board.is_safe(column)) sum += queens(n, board.with(column));
    return sum;
}

void matmul(double* c, const double* a, const double* b, std::size_t length) {
    if (length == TILE) return peers_multiply_tile(c, a, b);
    std::size_t q = length / 4;
    matmul(c, a, b, q);
    matmul(c + q, a, b + q, q);
    matmul(c + 2 * q, a + 2 * q, b, q);
    matmul(c + 3 * q, a + 2 * q, b + q, q);
    matmul(c, a + q, b + 2 * q, q);
    matmul(c + q, a + q, b + 3 * q, q);
    matmul(c + 2 * q, a + 3 * q, b + 2 * q, q);
    matmul(c + 3 * q, a + 3 * q, b + 3 * q, q);
}

std::uint64_t tree_sum(const TreeNode* node) {
    if (node->is_leaf()) return node->value;
    return node->value + tree_sum(node->left) + tree_sum(node->right);
}

std::uint64_t uts(const Tree* tree, const UtsNode& node) {
    std::uint32_t children = peers_uts_children(tree, &node);
    std::uint64_t nodes = 1;
    for (std::uint32_t i = 0; i < children; ++i) nodes += uts(tree, uts_child(tree, node, i));
    return nodes;
}

}  // namespace

extern "C" const Column peers_plain_cpp = {
    [](std::size_t) -> void* { return nullptr; },
    [](void*, std::uint64_t n) { return fib(n); },
    [](void*, std::uint64_t leaves) { return skynet(0, leaves); },
    [](void*, std::atomic<std::uint64_t>* places, std::size_t activities) { each(places, activities); },
    [](void*, std::uint8_t n) { return queens(n, Board{}); },
    [](void*, double* c, const double* a, const double* b, std::size_t length) {
        matmul(c, a, b, length);
    },
    [](void*, const TreeNode* root) { return tree_sum(root); },
    [](void*, const Tree* tree, const UtsNode* root) { return uts(tree, *root); },
};
