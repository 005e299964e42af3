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

/// Table 4, right half: what a call costs on top when it must be unwound into the heap.
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

/// Figure 13, as far as the text says it in numbers: from which grain on the microkernel is efficient.
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
