// OpenMP tasks, as the OpenMP examples write them: one task per call, taskwait, and
// an array of results where a loop makes the tasks.
#include "peers.hpp"

#include <numeric>

namespace {

std::uint64_t fib(std::uint64_t n) {
    if (n < 2) return n;
    std::uint64_t a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

std::uint64_t skynet(std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) return first;
    std::uint64_t part = leaves / FAN_OUT;
    std::array<std::uint64_t, FAN_OUT> results;
    for (std::uint64_t i = 0; i < FAN_OUT; ++i) {
#pragma omp task shared(results)
        results[i] = skynet(first + i * part, part);
    }
#pragma omp taskwait
    return std::accumulate(results.begin(), results.end(), std::uint64_t{0});
}

void each(std::atomic<std::uint64_t>* places, std::size_t activities) {
#pragma omp taskloop
    for (std::size_t i = 0; i < activities; ++i) activity(places, i);
}

std::uint64_t queens(std::uint8_t n, Board board) {
    if (board.rows == n) return 1;
    std::array<std::uint64_t, 16> results{};
    for (std::uint8_t column = 0; column < n; ++column) {
        if (!board.is_safe(column)) continue;
#pragma omp task shared(results)
        results[column] = queens(n, board.with(column));
    }
#pragma omp taskwait
    return std::accumulate(results.begin(), results.end(), std::uint64_t{0});
}

void matmul(double* c, const double* a, const double* b, std::size_t length) {
    if (length == TILE) return peers_multiply_tile(c, a, b);
    std::size_t q = length / 4;
#pragma omp task
    matmul(c, a, b, q);
#pragma omp task
    matmul(c + q, a, b + q, q);
#pragma omp task
    matmul(c + 2 * q, a + 2 * q, b, q);
#pragma omp task
    matmul(c + 3 * q, a + 2 * q, b + q, q);
#pragma omp taskwait
#pragma omp task
    matmul(c, a + q, b + 2 * q, q);
#pragma omp task
    matmul(c + q, a + q, b + 3 * q, q);
#pragma omp task
    matmul(c + 2 * q, a + 3 * q, b + 2 * q, q);
#pragma omp task
    matmul(c + 3 * q, a + 3 * q, b + 3 * q, q);
#pragma omp taskwait
}

std::uint64_t tree_sum(const TreeNode* node) {
    if (node->is_leaf()) return node->value;
    std::uint64_t left, right;
#pragma omp task shared(left)
    left = tree_sum(node->left);
#pragma omp task shared(right)
    right = tree_sum(node->right);
#pragma omp taskwait
    return node->value + left + right;
}

std::uint64_t uts(const Tree* tree, const UtsNode& node) {
    std::uint32_t children = peers_uts_children(tree, &node);
    if (children == 0) return 1;
    Results results(children);
    for (std::uint32_t i = 0; i < children; ++i) {
#pragma omp task shared(node, results)
        results[i] = uts(tree, uts_child(tree, node, i));
    }
#pragma omp taskwait
    return 1 + results.sum();
}

// A pool is the number of threads; the runtime keeps them between regions.
template <typename Body>
void in_team(void* pool, const Body& body) {
    int workers = static_cast<int>(reinterpret_cast<std::uintptr_t>(pool));
#pragma omp parallel num_threads(workers)
#pragma omp single
    body();
}

template <typename Body>
std::uint64_t value_in_team(void* pool, const Body& body) {
    std::uint64_t result = 0;
    in_team(pool, [&] { result = body(); });
    return result;
}

}  // namespace

extern "C" const Column peers_openmp = {
    [](std::size_t workers) { return reinterpret_cast<void*>(workers); },
    [](void* pool, std::uint64_t n) { return value_in_team(pool, [=] { return fib(n); }); },
    [](void* pool, std::uint64_t leaves) {
        return value_in_team(pool, [=] { return skynet(0, leaves); });
    },
    [](void* pool, std::atomic<std::uint64_t>* places, std::size_t activities) {
        in_team(pool, [=] { each(places, activities); });
    },
    [](void* pool, std::uint8_t n) {
        return value_in_team(pool, [=] { return queens(n, Board{}); });
    },
    [](void* pool, double* c, const double* a, const double* b, std::size_t length) {
        in_team(pool, [=] { matmul(c, a, b, length); });
    },
    [](void* pool, const TreeNode* root) {
        return value_in_team(pool, [=] { return tree_sum(root); });
    },
    [](void* pool, const Tree* tree, const UtsNode* root) {
        return value_in_team(pool, [=] { return uts(tree, *root); });
    },
};
