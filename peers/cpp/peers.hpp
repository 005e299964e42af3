// What the C++ columns share: the leaf code exported by src/kernel/export.rs, the
// n-queens board (src/kernel/queens.rs again), and the table through which
// src/runtime/foreign.rs calls a column.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

// src/kernel/uts.rs; opaque here, but for the node's size, so that it can be copied.
struct Tree;
struct UtsNode {
    std::uint32_t words[6];
};

struct TreeNode {
    const TreeNode* left;
    const TreeNode* right;
    std::uint64_t value;

    bool is_leaf() const { return left == nullptr || right == nullptr; }
};

extern "C" {
void peers_multiply_tile(double* c, const double* a, const double* b);
std::uint64_t peers_work(std::uint64_t index);
std::uint32_t peers_uts_children(const Tree* tree, const UtsNode* node);
void peers_uts_child(const Tree* tree, const UtsNode* node, std::uint32_t number, UtsNode* child);
}

inline UtsNode uts_child(const Tree* tree, const UtsNode& node, std::uint32_t number) {
    UtsNode child;
    peers_uts_child(tree, &node, number, &child);
    return child;
}

constexpr std::size_t TILE = 32 * 32;
constexpr std::uint64_t FAN_OUT = 10;

// One queen per filled row; copied to every child.
struct Board {
    std::uint8_t columns[16] = {};
    std::uint8_t rows = 0;

    bool is_safe(std::uint8_t column) const {
        for (int row = 0; row < rows; ++row) {
            int distance = rows - row;
            int other = columns[row];
            if (other == column || std::abs(other - column) == distance) return false;
        }
        return true;
    }

    Board with(std::uint8_t column) const {
        Board next = *this;
        next.columns[next.rows++] = column;
        return next;
    }
};

// An activity of the loop.
inline void activity(std::atomic<std::uint64_t>* places, std::size_t index) {
    places[index].store(peers_work(index), std::memory_order_relaxed);
}

// What the children of a UTS node return. Only the root of a binomial tree has more
// than 100, so that all others' results stay on the stack.
class Results {
public:
    explicit Results(std::uint32_t count)
        : count_(count), values_(count <= 100 ? few_ : new std::uint64_t[count]) {}
    Results(const Results&) = delete;
    Results& operator=(const Results&) = delete;
    ~Results() {
        if (values_ != few_) delete[] values_;
    }

    std::uint64_t& operator[](std::uint32_t i) { return values_[i]; }

    std::uint64_t sum() const {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < count_; ++i) sum += values_[i];
        return sum;
    }

private:
    std::uint32_t count_;
    std::uint64_t few_[100];
    std::uint64_t* values_;
};

// One column: `start` returns a pool that the others are given back.
struct Column {
    void* (*start)(std::size_t workers);
    std::uint64_t (*fib)(void* pool, std::uint64_t n);
    std::uint64_t (*skynet)(void* pool, std::uint64_t leaves);
    void (*each)(void* pool, std::atomic<std::uint64_t>* places, std::size_t activities);
    std::uint64_t (*queens)(void* pool, std::uint8_t n);
    void (*matmul)(void* pool, double* c, const double* a, const double* b, std::size_t length);
    std::uint64_t (*tree_sum)(void* pool, const TreeNode* root);
    std::uint64_t (*uts)(void* pool, const Tree* tree, const UtsNode* root);
};
