// oneTBB: parallel_invoke for a fixed number of branches, task_group for a loop.
// Its guide has other forms too, which were measured and are slower
// here: task_group for two branches (its example is fib) takes 1.3 times as long on
// one worker and twice as long on two, parallel_reduce over the columns of n-queens
// 2.8 times as long.
#include "peers.hpp"

#include <numeric>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace {

struct Pool {
    tbb::global_control workers;
    tbb::global_control stack;
    tbb::task_arena arena;

    explicit Pool(std::size_t count)
        : workers(tbb::global_control::max_allowed_parallelism, count),
          stack(tbb::global_control::thread_stack_size, std::size_t{256} << 20),
          arena(static_cast<int>(count)) {}
};

std::uint64_t fib(std::uint64_t n) {
    if (n < 2) return n;
    std::uint64_t a, b;
    tbb::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
    return a + b;
}

std::uint64_t skynet(std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) return first;
    std::uint64_t part = leaves / FAN_OUT;
    std::array<std::uint64_t, FAN_OUT> results;
    tbb::task_group group;
    for (std::uint64_t i = 0; i < FAN_OUT; ++i)
        group.run([=, &results] { results[i] = skynet(first + i * part, part); });
    group.wait();
    return std::accumulate(results.begin(), results.end(), std::uint64_t{0});
}

void each(std::atomic<std::uint64_t>* places, std::size_t activities) {
    tbb::parallel_for(std::size_t{0}, activities, [=](std::size_t i) { activity(places, i); });
}

std::uint64_t queens(std::uint8_t n, Board board) {
    if (board.rows == n) return 1;
    std::array<std::uint64_t, 16> results{};
    tbb::task_group group;
    for (std::uint8_t column = 0; column < n; ++column)
        if (board.is_safe(column))
            group.run([=, &results] { results[column] = queens(n, board.with(column)); });
    group.wait();
    return std::accumulate(results.begin(), results.end(), std::uint64_t{0});
}

void matmul(double* c, const double* a, const double* b, std::size_t length) {
    if (length == TILE) return peers_multiply_tile(c, a, b);
    std::size_t q = length / 4;
    tbb::parallel_invoke([=] { matmul(c, a, b, q); },
                         [=] { matmul(c + q, a, b + q, q); },
                         [=] { matmul(c + 2 * q, a + 2 * q, b, q); },
                         [=] { matmul(c + 3 * q, a + 2 * q, b + q, q); });
    tbb::parallel_invoke([=] { matmul(c, a + q, b + 2 * q, q); },
                         [=] { matmul(c + q, a + q, b + 3 * q, q); },
                         [=] { matmul(c + 2 * q, a + 3 * q, b + 2 * q, q); },
                         [=] { matmul(c + 3 * q, a + 3 * q, b + 3 * q, q); });
}

std::uint64_t tree_sum(const TreeNode* node) {
    if (node->is_leaf()) return node->value;
    std::uint64_t left, right;
    tbb::parallel_invoke([&] { left = tree_sum(node->left); },
                         [&] { right = tree_sum(node->right); });
    return node->value + left + right;
}

std::uint64_t uts(const Tree* tree, const UtsNode& node) {
    std::uint32_t children = peers_uts_children(tree, &node);
    if (children == 0) return 1;
    Results results(children);
    tbb::task_group group;
    for (std::uint32_t i = 0; i < children; ++i)
        group.run([=, &node, &results] { results[i] = uts(tree, uts_child(tree, node, i)); });
    group.wait();
    return 1 + results.sum();
}

template <typename Body>
auto in_arena(void* pool, const Body& body) {
    return static_cast<Pool*>(pool)->arena.execute(body);
}

}  // namespace

extern "C" const Column peers_tbb = {
    [](std::size_t workers) -> void* { return new Pool(workers); },
    [](void* pool, std::uint64_t n) { return in_arena(pool, [=] { return fib(n); }); },
    [](void* pool, std::uint64_t leaves) {
        return in_arena(pool, [=] { return skynet(0, leaves); });
    },
    [](void* pool, std::atomic<std::uint64_t>* places, std::size_t activities) {
        in_arena(pool, [=] { each(places, activities); });
    },
    [](void* pool, std::uint8_t n) { return in_arena(pool, [=] { return queens(n, Board{}); }); },
    [](void* pool, double* c, const double* a, const double* b, std::size_t length) {
        in_arena(pool, [=] { matmul(c, a, b, length); });
    },
    [](void* pool, const TreeNode* root) { return in_arena(pool, [=] { return tree_sum(root); }); },
    [](void* pool, const Tree* tree, const UtsNode* root) {
        return in_arena(pool, [=] { return uts(tree, *root); });
    },
};
