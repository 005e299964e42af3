//! *A hybrid execution model for fine-grained languages on distributed memory multicomputers* (Illinois Concert, 1995).

use super::{Row, Table};

const SCHEMAS: &[&str] = &["caller", "parallel", "non-blocking", "may block", "continuation passing"];

const CAPTION_2: &str = "Call and fallback overheads (at the caller) for different caller-callee scenarios, expressed in terms of SPARC \
    instructions required in addition to a C function call.";

/// Table 2, left half: a call that completes on the stack.
pub const HYBRID_TABLE_2_CALL: Table = Table {
    source: "hybrid execution model, table 2 (left)",
    title: CAPTION_2,
    unit: "SPARC instructions",
    head: SCHEMAS,
    rows: &[
        Row { name: "parallel", figures: &[Some(130.0), Some(0.0), Some(6.0), Some(8.0)] },
        Row { name: "non-blocking", figures: &[None, Some(0.0), None, None] },
        Row { name: "may block", figures: &[None, Some(0.0), Some(6.0), Some(8.0)] },
        Row { name: "continuation passing", figures: &[None, Some(0.0), Some(6.0), Some(8.0)] },
    ],
    note: "columns are the callee's schema; a C function call costs 5 instructions on a SPARC with register windows, 10 to 15 elsewhere",
};

/// Table 2, right half: the extra cost of a call that must be unwound into the heap.
pub const HYBRID_TABLE_2_FALLBACK: Table = Table {
    source: "hybrid execution model, table 2 (right)",
    title: CAPTION_2,
    unit: "SPARC instructions",
    head: SCHEMAS,
    rows: &[
        Row { name: "parallel", figures: &[None, Some(0.0), Some(8.0), Some(8.0)] },
        Row { name: "non-blocking", figures: &[None, Some(0.0), Some(1.0), None] },
        Row { name: "may block", figures: &[None, Some(0.0), Some(79.0), Some(39.0)] },
        Row { name: "continuation passing", figures: &[None, Some(0.0), Some(140.0), Some(100.0)] },
    ],
    note: "columns are the callee's schema; the 1 of non-blocking to may block is printed so, where the other halves and the concert \
           paper have a dash",
};

/// Table 3: times on one processor.
pub const HYBRID_TABLE_3: Table = Table {
    source: "hybrid execution model, table 3",
    title: "Sequential execution times (in seconds) using the hybrid mechanisms compared with times for a parallel-only and a \
            comparable C program. The hybrid versions represent varying degrees of flexibility: 1 interface uses only the \
            Continuation-passing interface, while 3 interfaces uses all three interfaces. Seq-opt is a version which eliminates \
            parallelization overheads.",
    unit: "seconds",
    head: &["program", "parallel", "1 interface", "2 interfaces", "3 interfaces", "seq-opt", "C"],
    rows: &[
        Row { name: "fib(29)", figures: &[Some(13.12), Some(1.01), Some(0.95), Some(0.70), Some(0.69), Some(1.10)] },
        Row {
            name: "tak(18,12,6)",
            figures: &[Some(152.87), Some(11.37), Some(12.08), Some(6.75), Some(6.71), Some(7.00)],
        },
        Row {
            name: "qsort(10000)",
            figures: &[Some(2.90), Some(0.25), Some(0.28), Some(0.23), Some(0.23), Some(0.16)],
        },
        Row {
            name: "nqueens(8x8)",
            figures: &[Some(3.37), Some(0.77), Some(0.80), Some(0.60), Some(0.56), Some(0.38)],
        },
        Row {
            name: "list-traversal (128 elements)",
            figures: &[Some(1.34), Some(1.05), Some(0.81), Some(0.81), Some(0.81), Some(0.78)],
        },
        Row {
            name: "list-traversal, without forwarding",
            figures: &[None, Some(1.17), Some(1.00), Some(0.87), Some(0.87), None],
        },
    ],
    note: "the last row is the paper's footnote a: without the forwarding optimisation supported by the continuation-passing \
           interface; the relative times of fib and tak result from comparatively aggressive inlining",
};

const MACHINES: &[&str] = &[
    "layout",
    "local to remote",
    "CM-5 parallel",
    "CM-5 hybrid",
    "CM-5 parallel/hybrid",
    "T3D parallel",
    "T3D hybrid",
    "T3D parallel/hybrid",
];

/// Table 4: SOR by the side of its blocks.
pub const HYBRID_TABLE_4: Table = Table {
    source: "hybrid execution model, table 4",
    title: "Parallel execution times for SOR (1024 x 1024 grid, 100 iterations) on 64-node configurations of the CM-5 and T3D. The \
            performance of hybrid mechanisms is compared with a parallel-only version for varying amounts of data locality (Block \
            Size corresponds to a block-cyclic distribution of the grid, and Local vs Remote gives the ratio of local to remote \
            method invocations for the layout).",
    unit: "seconds",
    head: MACHINES,
    rows: &[
        machines("8", &[Some(0.083), Some(135.58), Some(136.85), Some(0.991), Some(48.99), Some(43.50), Some(1.126)]),
        machines("16", &[Some(1.167), Some(97.16), Some(88.15), Some(1.102), Some(46.77), Some(28.66), Some(1.632)]),
        machines("32", &[Some(3.333), Some(83.47), Some(52.15), Some(1.601), Some(43.46), Some(20.70), Some(2.099)]),
        machines("64", &[Some(7.667), Some(60.33), Some(32.43), Some(1.860), Some(34.94), Some(14.97), Some(2.334)]),
        machines("128", &[Some(16.333), Some(45.80), Some(19.89), Some(2.303), Some(28.46), Some(12.00), Some(2.372)]),
    ],
    note: "rows are the side of a block; the paper does not say what it counts as a local invocation: a block of side B has B - 1 \
           reads of neighbours that stay for each that does not, whatever the grid",
};

/// Table 5: MD-Force by layout.
pub const HYBRID_TABLE_5: Table = Table {
    source: "hybrid execution model, table 5",
    title: "Parallel execution times for MD-Force kernel (10503 atoms for 1 iteration) on 64-node configurations of the CM-5 and \
            T3D. The performance of the hybrid mechanisms is compared with a parallel-only version for low-locality random and \
            high-locality block distributions.",
    unit: "seconds",
    head: MACHINES,
    rows: &[
        machines("random", &[Some(0.38), Some(10.71), Some(10.41), Some(1.03), Some(3.94), Some(3.82), Some(1.03)]),
        machines("spatial", &[Some(6.05), Some(1.46), Some(1.02), Some(1.43), Some(1.32), Some(0.87), Some(1.52)]),
    ],
    note: "the table calls the second layout block, the text spatial",
};

/// Table 6: EM3D by form and placement.
pub const HYBRID_TABLE_6: Table = Table {
    source: "hybrid execution model, table 6",
    title: "Parallel execution times for EM3D (8192 nodes of degree 16 for 100 iterations) on a 64-node CM-5 and a 16-node T3D. The \
            performance for three versions of the algorithm using the hybrid mechanisms is compared with parallel-only versions for \
            random node placement with low locality (0.0156:1) and placement with high locality (99:1).",
    unit: "seconds",
    head: MACHINES,
    rows: &[
        machines(
            "pull, low",
            &[Some(0.0156), Some(93.93), Some(68.94), Some(1.362), Some(349.04), Some(336.32), Some(1.037)],
        ),
        machines(
            "pull, high",
            &[Some(99.0), Some(7.42), Some(3.34), Some(2.222), Some(29.681), Some(25.96), Some(1.148)],
        ),
        machines(
            "push, low",
            &[Some(0.0156), Some(543.73), Some(145.36), Some(3.741), Some(494.85), Some(473.59), Some(1.045)],
        ),
        machines(
            "push, high",
            &[Some(99.0), Some(11.76), Some(10.96), Some(1.073), Some(41.27), Some(29.47), Some(1.400)],
        ),
        machines(
            "forward, low",
            &[Some(0.0156), Some(180.40), Some(181.6), Some(0.993), Some(602.41), Some(433.65), Some(1.389)],
        ),
        machines(
            "forward, high",
            &[Some(99.0), Some(18.86), Some(15.53), Some(1.214), Some(112.79), Some(39.41), Some(2.262)],
        ),
    ],
    note: "0.0156 is one in 64, also beside the 16 nodes of the T3D; 2.262 is printed so, where its times have a ratio of 2.862",
};

const fn machines(name: &'static str, figures: &'static [Option<f64>]) -> Row {
    Row { name, figures }
}
