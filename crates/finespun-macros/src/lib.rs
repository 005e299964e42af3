//! The proc-macro shell of the task compiler.
