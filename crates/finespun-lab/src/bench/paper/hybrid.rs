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

/// Table 2, right half: what a call costs on top when it must be unwound into the heap.
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
