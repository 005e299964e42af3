/* The programs of the hybrid paper's table 3 in plain C.
   Usage: table3 PROGRAM TIMES; prints the result and the seconds of one run, on average. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t fib(uint64_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static int64_t tak(int64_t x, int64_t y, int64_t z) {
    if (y >= x) return z;
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y));
}

static void swap(uint64_t *a, uint64_t *b) {
    uint64_t c = *a;
    *a = *b;
    *b = c;
}

static size_t partition(uint64_t *v, size_t n) {
    size_t last = n - 1, at = 0;
    swap(&v[last / 2], &v[last]);
    for (size_t i = 0; i < last; i++)
        if (v[i] < v[last]) swap(&v[i], &v[at++]);
    swap(&v[at], &v[last]);
    return at;
}

static void sort(uint64_t *v, size_t n) {
    if (n < 2) return;
    size_t at = partition(v, n);
    sort(v, at);
    sort(v + at + 1, n - at - 1);
}

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t queens(uint32_t all, uint32_t columns, uint32_t left, uint32_t right) {
    if (columns == all) return 1;
    uint64_t solutions = 0;
    for (uint32_t safe = all & ~(columns | left | right); safe; safe &= safe - 1) {
        uint32_t queen = safe & -safe;
        solutions += queens(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return solutions;
}

struct node {
    uint64_t value;
    struct node *next;
};

static uint64_t traverse(const struct node *node) { return node ? node->value + traverse(node->next) : 0; }

/* Hides from the compiler that every run is the same. */
static uint64_t hidden(uint64_t value) {
    __asm__ volatile("" : "+r"(value) : : "memory");
    return value;
}

enum { SORTED = 10000, LISTED = 128 };

int main(int count, char **words) {
    if (count != 3) return 2;
    const char *program = words[1];
    long times = atol(words[2]);
    uint64_t *input = malloc(SORTED * sizeof *input), *sorted = malloc(SORTED * sizeof *sorted);
    uint64_t state = 1, result = 0;
    struct node *list = NULL;
    struct timespec start, end;
    if (!input || !sorted || times < 1) return 2;
    for (size_t i = 0; i < SORTED; i++) input[i] = splitmix(&state);
    for (uint64_t value = LISTED; value > 0; value--) {
        struct node *node = malloc(sizeof *node);
        if (!node) return 2;
        *node = (struct node){value, list};
        list = node;
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < times; i++) {
        if (!strcmp(program, "fib")) {
            result = fib(hidden(29));
        } else if (!strcmp(program, "tak")) {
            result = tak(hidden(18), 12, 6);
        } else if (!strcmp(program, "qsort")) {
            memcpy(sorted, input, SORTED * sizeof *input);
            sort(sorted, hidden(SORTED));
            result = sorted[SORTED / 2];
        } else if (!strcmp(program, "nqueens")) {
            result = queens(hidden(255), 0, 0, 0);
        } else if (!strcmp(program, "list")) {
            result = traverse((const struct node *)(uintptr_t)hidden((uint64_t)(uintptr_t)list));
        } else {
            return 2;
        }
        hidden(result);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    printf("%llu %.12e\n", (unsigned long long)result, seconds / (double)times);
    return 0;
}
