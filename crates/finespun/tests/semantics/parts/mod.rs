//! Bodies that use a part of a value, or look at it, where its name alone tells a compiler that all of it is moved. One a line,
//! unformatted.

mod captures;
mod closures;
mod guards;
mod ordinary;
mod variations;
mod written;
