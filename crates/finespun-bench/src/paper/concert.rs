//! *Runtime mechanisms for efficient dynamic multithreading* (Illinois Concert, 1996).

use super::{Row, Table};

/// Table 1: the heap-based primitives.
pub const CONCERT_TABLE_1: Table = Table {
    source: "concert runtime mechanisms, table 1",
    title: "Costs of basic Concert thread management primitives on the T3D.",
    unit: "as headed",
    head: &["operation", "cycles", "us"],
    rows: &[
        Row { name: "thread_create", figures: &[Some(150.0), Some(1.00)] },
        Row { name: "thread_delete", figures: &[Some(100.0), Some(0.67)] },
        Row { name: "thread_enqueue", figures: &[Some(40.0), Some(0.27)] },
        Row { name: "thread_dequeue", figures: &[Some(40.0), Some(0.27)] },
        Row { name: "make_future", figures: &[Some(20.0), Some(0.14)] },
        Row { name: "touch_future", figures: &[Some(11.0), Some(0.07)] },
        Row { name: "touch_future (if empty)", figures: &[Some(22.0), Some(0.14)] },
        Row { name: "resolve_future", figures: &[Some(10.0), Some(0.07)] },
        Row { name: "resolve_future (if waiting)", figures: &[Some(50.0), Some(0.35)] },
    ],
    note: "creation: thread_create, thread_delete; scheduling: thread_enqueue, thread_dequeue; synchronisation: the others",
};

const SIZES: &[&str] = &["figure", "16", "32", "64", "128", "256", "512", "1024"];

/// Table 2: the cost of a message by its size.
pub const CONCERT_TABLE_2: Table = Table {
    source: "concert runtime mechanisms, table 2",
    title: "Latency and software overheads of Concert communication primitives on the T3D for various message sizes. The vendor \
            communication library latency numbers are shown for comparison.",
    unit: "us",
    head: &["figure", "16", "32", "64", "128", "256"],
    rows: &[
        Row { name: "send", figures: &[Some(1.84), Some(1.85), Some(2.03), Some(2.71), Some(3.53)] },
        Row { name: "extract", figures: &[Some(0.73), Some(0.73), Some(0.73), Some(0.73), Some(0.73)] },
        Row { name: "latency", figures: &[Some(6.16), Some(6.25), Some(7.19), Some(8.07), Some(8.65)] },
        Row { name: "PVM latency", figures: &[Some(34.31), Some(34.33), Some(34.95), Some(36.49), Some(40.45)] },
    ],
    note: "columns are bytes; all of push messaging; table 5 prints 2.84 where this one has 2.71",
};

/// Table 5: push against pull, without contention.
pub const CONCERT_TABLE_5: Table = Table {
    source: "concert runtime mechanisms, table 5",
    title: "Base source and destination overheads of the push (fetch-and-increment based) and pull (atomic-swap based) messaging \
            schemes on the T3D.",
    unit: "us",
    head: SIZES,
    rows: &[
        Row {
            name: "push source",
            figures: &[Some(1.84), Some(1.85), Some(2.03), Some(2.84), Some(3.53), Some(8.26), Some(14.65)],
        },
        Row {
            name: "push destination",
            figures: &[Some(0.73), Some(0.73), Some(0.73), Some(0.73), Some(0.73), Some(0.73), Some(0.73)],
        },
        Row {
            name: "pull source",
            figures: &[Some(1.49), Some(1.56), Some(1.67), Some(1.93), Some(2.49), Some(4.13), Some(6.31)],
        },
        Row {
            name: "pull destination",
            figures: &[Some(1.30), Some(1.70), Some(2.46), Some(5.49), Some(9.53), Some(17.17), Some(30.18)],
        },
    ],
    note: "columns are bytes",
};

/// Figure 10, where the text gives numbers: source overheads of 1024 bytes under contention.
pub const CONCERT_FIGURE_10: Table = Table {
    source: "concert runtime mechanisms, section 4.3.1 (figure 10)",
    title: "Source overheads for push (left) and pull (right) versions of messaging on the T3D for four message sizes.",
    unit: "us",
    head: &["version", "point-to-point", "all-to-all", "random", "hotspot x4", "hotspot x16", "all-to-one"],
    rows: &[Row { name: "push", figures: &[Some(13.5), Some(30.0), None, None, Some(95.0), Some(455.0)] }],
    note: "harmonic means over the 64 nodes of a T3D, 1024 bytes, 13.2 us of computing between messages; of pull the text says that \
           its curves are close together, without a number",
};

const SCHEMAS: &[&str] = &["caller", "parallel", "non-blocking", "may block", "continuation passing"];

const CAPTION_4: &str = "Call and fallback costs (at the caller) for different caller-callee scenarios on the Cray T3D, in terms of \
    overhead required in addition to a C function call.";

/// Table 4, left half: a call that completes on the stack.
pub const CONCERT_TABLE_4_CALL: Table = Table {
    source: "concert runtime mechanisms, table 4 (call overhead)",
    title: CAPTION_4,
    unit: "Alpha instructions",
    head: SCHEMAS,
    rows: &[
        Row { name: "parallel", figures: &[Some(320.0), Some(0.0), Some(6.0), Some(8.0)] },
        Row { name: "non-blocking", figures: &[None, Some(0.0), None, None] },
        Row { name: "may block", figures: &[None, Some(0.0), Some(6.0), Some(8.0)] },
        Row { name: "continuation passing", figures: &[None, Some(0.0), Some(6.0), Some(8.0)] },
    ],
    note: "columns are the callee's schema; a C function call costs 25 to 40 instructions on an Alpha; 320 instructions are 2.1 us",
};

/// Table 4, right half: the extra cost of a call that must be unwound into the heap.
pub const CONCERT_TABLE_4_FALLBACK: Table = Table {
    source: "concert runtime mechanisms, table 4 (fallback overhead)",
    title: CAPTION_4,
    unit: "us",
    head: SCHEMAS,
    rows: &[
        Row { name: "parallel", figures: &[None, Some(0.0), Some(0.15), Some(0.0)] },
        Row { name: "non-blocking", figures: &[None, Some(0.0), None, None] },
        Row { name: "may block", figures: &[None, Some(0.0), Some(2.00), Some(0.30)] },
        Row { name: "continuation passing", figures: &[None, Some(0.0), Some(3.50), Some(1.80)] },
    ],
    note: "columns are the callee's schema; the 0 of parallel to continuation passing is what our text of the paper shows, whose \
           table lost its lines",
};

/// Figure 13, where the text gives numbers: the least grain at which the microkernel is efficient.
pub const CONCERT_FIGURE_13: Table = Table {
    source: "concert runtime mechanisms, section 5.1.3 (figure 13)",
    title: "Regions of the compute granularity and fraction of local accesses parameter space where the microkernel achieves at \
            least 70% efficiency for the four runtime versions.",
    unit: "us",
    head: &["version", "0 % local", "60 % local", "80 % local", "100 % local"],
    rows: &[
        Row { name: "base", figures: &[None, None, Some(300.0), None] },
        Row { name: "+stack", figures: &[None, Some(10.0), None, None] },
        Row { name: "+pull", figures: &[None, None, None, None] },
        Row { name: "+stack+pull", figures: &[Some(150.0), None, None, Some(10.0)] },
    ],
    note: "on 32 processors of a T3D; base: greater than 300 us and greater than 80 % local; +stack: as low as 10 us, and fewer local \
           accesses (60 %), which the text names together; +pull: even 0 % local, without a grain",
};
