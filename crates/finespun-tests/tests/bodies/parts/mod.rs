//! Bodies that use or read a part of a value, where its name alone suggests that the whole value is moved. One per
//! line, unformatted.

mod captures;
mod closures;
mod guards;
mod ordinary;
mod variations;
mod written;
