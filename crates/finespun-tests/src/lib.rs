//! Tests of the library as its users see it: in `tests`.
