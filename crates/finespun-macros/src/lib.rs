//! The proc-macro front end of the task compiler.
//!
//! It only passes token streams to `finespun_compiler` and back. The compiler is a plain library so that it can be
//! tested as one.

mod library;

use proc_macro::TokenStream;

use library::found;

/// Compiles an `async fn` to a task: a call that may later turn out to have been a thread.
///
/// Applies to a free function, a method, or a whole `trait` or `impl` block (then to each `async fn` in it). Inside,
/// `.await` awaits tasks and `join!` runs two to twelve tasks; thieves may take the later ones.
///
/// The compiler chooses a *schema* and writes it, with the reason, into the item's documentation:
///
/// | schema | chosen when | price of a call |
/// |---|---|---|
/// | straight | the body awaits nothing, or only straight tasks | a plain call |
/// | stack | everything that lives across an await may move | a call and one check |
/// | pinned | otherwise | a small heap frame, polled in place |
///
/// A local that is lent to an awaited call moves to a cell of its own, which costs an allocation from the pool of
/// frames. If the reason for pinning concerns only the end of a branch, or of a body behind an exit, that part becomes a pinned
/// task of its own, and the rest keeps the stack schema. `finespun schemas src` lists the schemas of a crate's tasks.
///
/// `#[task(stack)]` turns every reason against the stack schema into an error with its location and a cure;
/// `#[task(pinned)]` forces the pinned schema; `#[task(straight)]` asserts that every awaited task is straight.
///
/// Generated code finds the library under the name in the crate's manifest. A crate that uses the library through
/// another crate's re-export gives the path: `#[task(crate = other::finespun)]`, alone or after the schema. `#[object]`
/// and `#[thread]` accept the same argument.
///
/// Only rustc knows whether a function's callees are straight. If they are, the function becomes straight
/// automatically: it does not check for requests of other workers, and may lend its locals to its callees. This covers
/// three levels of functions that await one callee after another. Functions that await in a loop or by `join!` keep
/// their checks, so that other tasks can run and thieves find work. Generic functions that await, and methods that
/// await, may suspend as far as their callers know.
///
/// The compiler guesses borrows from names and annotations, and rustc has the last word: where it reports that a local
/// "does not live long enough" or "cannot be moved" at an await that looks right, choose `#[task(pinned)]`, or bind the
/// borrowed value by a `let` with its type. A closure that captures only numbers and shared references, by their
/// written types, does not need `move`.
///
/// # Traits
///
/// # Portable tasks
///
/// `#[task(portable)]`, alone or beside a schema, lets other processes of a runtime (`Fabric::Processes`) take calls that
/// have not begun: branches of `join!`, and tasks of `join_all` and `reduce`. A process without work asks a busy one, which
/// sends it half of such calls, the oldest; results and panics come back to where they are awaited. The arguments and the
/// result are [portable](../finespun/objects/trait.Portable.html) values: an argument may also be a shared reference to
/// one, to a slice or to a `str`, of which the other process owns a copy during the call. So a task that is portable must
/// not rely on the identity of what it borrows, nor on statics. A call costs the same as one that stays.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task(portable)]
/// async fn count(weights: &[u64], left: u64, from: usize) -> u64 {
///     if left == 0 || from == weights.len() {
///         return u64::from(left == 0);
///     }
///     let with: u64 = left.wrapping_sub(weights[from]);
///     if with > left {
///         return count(weights, left, from + 1).await;
///     }
///     let (a, b) = join!(count(weights, with, from + 1), count(weights, left, from + 1));
///     a + b
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(count(&[1, 2, 3, 4, 5], 6, 0)), 3);
/// ```
///
/// On a whole trait, the attribute makes tasks that work through `dyn` under the same names, if no method has type
/// parameters, takes `self` by value or names `Self` (methods with `where Self: Sized` do not count). Nothing is boxed.
/// Mark the trait's implementations as a whole, too. If a method takes `&self`, the type must be `Sync` where the
/// method is called; if `&mut self`, `Send`: write the trait as `trait Shape: Sync`, or the object as
/// `dyn Shape + Sync`.
///
/// Where these conditions fail, the tasks exist for sized types only. A single method can be marked in an inherent
/// `impl` only (elsewhere rustc reports that visibility qualifiers are not permitted). Methods of a trait, or of a
/// trait's implementation, are marked with the whole item; the same applies to a function without `self` in a generic
/// `impl`.
///
/// # Example
///
/// ```
/// use finespun::prelude::*;
///
/// enum Expression {
///     Number(i64),
///     Sum(Box<Expression>, Box<Expression>),
///     Product(Box<Expression>, Box<Expression>),
/// }
/// use Expression::*;
///
/// /// Other workers may compute the right operand while this one computes the left.
/// #[task]
/// async fn value(expression: &Expression) -> i64 {
///     match expression {
///         Number(number) => *number,
///         Sum(left, right) => {
///             let (left, right) = join!(value(left), value(right));
///             left + right
///         }
///         Product(left, right) => {
///             let (left, right) = join!(value(left), value(right));
///             left * right
///         }
///     }
/// }
///
/// let two = || Box::new(Number(2));
/// let expression = Product(Box::new(Sum(two(), two())), two());
/// let runtime = Runtime::builder().workers(2).build().unwrap();
/// assert_eq!(runtime.run(value(&expression)), 8);
/// ```
#[proc_macro_attribute]
pub fn task(arguments: TokenStream, item: TokenStream) -> TokenStream {
    found(finespun_compiler::task(arguments.into(), item.into()))
}

/// Runs an `async fn main` as a task: on the default runtime (`finespun::runtime::default`), which this builds.
///
/// The function is compiled as by [`task`](macro@task), takes no arguments, and returns what a `main` may return, if it is
/// `Send`: for errors of any type, `Box<dyn Error + Send + Sync>`. The run has ended when `main` returns, with every task
/// spawned in it.
///
/// `workers = n` sets the number of workers of the default runtime, and wins over the environment variable
/// `FINESPUN_WORKERS`; without it there is one per core that the process may use. `crate = path` names the library, as for
/// `#[task]`.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn square(n: u64) -> u64 {
///     n * n
/// }
///
/// #[finespun::main(workers = 2)]
/// async fn main() -> Result<(), std::num::TryFromIntError> {
///     let (a, b) = join!(square(3), square(4));
///     assert_eq!(u8::try_from(a + b)?, 25);
///     Ok(())
/// }
/// ```
///
/// # Panics
/// As `Runtime::run`; and if the default runtime cannot be built, or has been built already while `workers` is given.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    found(finespun_compiler::main(arguments.into(), item.into()))
}

/// Makes a test of an `async fn`, which runs as a task on a runtime of its own.
///
/// The function is compiled as by [`task`](macro@task), takes no arguments, and returns what a test may return, if it is
/// `Send`. `#[ignore]` and `#[should_panic]` mean what they mean beside `#[test]`: a panic of any task of the run is the
/// test's.
///
/// The runtime has two workers, unless `workers = n` says otherwise, so that many tests run at once on few cores. It ends
/// with the test. `crate = path` names the library, as for `#[task]`.
///
/// ```
/// # mod tests {
/// use finespun::prelude::*;
///
/// #[finespun::test]
/// async fn halves_are_sums() {
///     let (a, b) = join!(checkpoint(), yield_now());
///     assert_eq!((a, b), ((), ()));
/// }
///
/// #[finespun::test(workers = 1)]
/// #[should_panic(expected = "too small")]
/// async fn small_numbers_are_refused() {
///     panic!("too small");
/// }
/// # }
/// ```
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    found(finespun_compiler::test(arguments.into(), item.into()))
}

/// Makes a type's methods callable through references: values of the type can be objects that live on a node.
///
/// Applies to an `impl` block of the type's own methods. Each `fn` and `async fn` with one of these receivers can be
/// called through a `Ref` of the type, by the same name, as a task:
///
/// | receiver | meaning, for the whole method |
/// |---|---|
/// | `&self` | shared: runs with other shared methods, but no exclusive one |
/// | `&mut self` | exclusive |
/// | `this: Ref<Self>` | no lock: the method runs at the object's home, and calls short methods that lock |
///
/// A plain `fn` is straight: at the object's home, and while the object is unlocked, a call costs a few instructions.
/// An `async fn` is compiled as by `#[task]`, which may also mark the method itself (`#[task(pinned)]`). It may await
/// whatever a task may, and holds the object's lock until it returns. It runs at the object's home only, so neither the
/// object nor the method's locals need to be `Send`.
///
/// A plain `fn` of `&self` alone that is marked `#[constant]` returns a constant of the object: it is called once, when
/// the object is created, and its result is read afterwards without a lock, even while the object is locked.
///
/// Callers get an object in the order of their requests. `#[object(readers_first)]` lets shared methods overtake
/// waiting exclusive ones: more shared methods run at once, and no exclusive one runs as long as shared ones keep
/// coming.
///
/// Arguments and results move between nodes, so they are `Portable`: owned, `Send`, and serializable by serde.
/// Functions with none of the three receivers stay unchanged. A type has one marked block; private methods belong in a
/// block without the attribute.
///
/// # Layout
///
/// The objects of a type at a node are neighbours in memory, in the order of their creation, each behind one word that every call
/// reads. Objects of more than 512 bytes are in boxes. rustc orders the fields of a type as it likes; `#[repr(C)]`, with the
/// fields first that most calls read, puts these into the cache line of the word.
///
/// # Example
///
/// ```
/// use finespun::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Counter {
///     name: String,
///     count: u64,
/// }
///
/// #[object]
/// impl Counter {
///     #[constant]
///     fn name_length(&self) -> usize {
///         self.name.len()
///     }
///
///     fn count(&self) -> u64 {
///         self.count
///     }
///
///     fn add(&mut self, more: u64) {
///         self.count += more;
///     }
/// }
///
/// #[task]
/// async fn count_up(to: u64) -> (u64, usize) {
///     // On the last node: calls from other nodes are messages.
///     let counter = on(nodes() - 1).create(Counter { name: "all".to_owned(), count: 0 }).await;
///     parfor(0..to, move |k| counter.add(k)).await;
///     (counter.count().await, counter.name_length().await)
/// }
///
/// let runtime = Runtime::builder().workers(2).build().unwrap();
/// assert_eq!(runtime.run(count_up(10)), (45, 3));
/// ```
#[proc_macro_attribute]
pub fn object(arguments: TokenStream, block: TokenStream) -> TokenStream {
    found(finespun_compiler::object(arguments.into(), block.into()))
}

/// Makes a thread of a function: code whose calls can be described by closures. See `finespun::closure`.
///
/// The function returns nothing, takes owned `Send` arguments, and never waits. Its last parameter may be a
/// `Vector<T>`, whose length each closure has for itself. Its first may be marked `#[shared]`: a reference that is not
/// an argument, but refers to data that the whole computation shares (`top(..).sharing(value)`). `#[thread(post)]`
/// makes `make_closure!` post full closures of the thread at once.
///
/// `#[thread(portable)]` lets idle processes of a runtime (`Fabric::Processes`) take posted closures of the thread that have
/// not begun. Each argument is then `Portable`, or a continuation or `Vector` of a portable type. As for `#[task(portable)]`, the thread may run in any process, so it does not rely on the
/// identity of its arguments, nor on statics. Such a closure counts as active until each continuation among its arguments has
/// been used or dropped, or a thread has panicked. Closures of a computation that shares a value stay.
///
/// The function becomes a type of its name, for `make_closure!` and `tail_call!`; it cannot be called in any other way.
#[proc_macro_attribute]
pub fn thread(arguments: TokenStream, item: TokenStream) -> TokenStream {
    found(finespun_compiler::thread(arguments.into(), item.into()))
}

/// Makes a closure of a thread: `make_closure!(thread, a, _, c)`, with `_` for a missing argument.
///
/// If none is missing, the result is a `Closure`, ready to be posted. Otherwise it is a struct that has, under the name
/// of each missing parameter, the parameter's continuation `Cont<T>`. For an array or a `Vector<T>`, `_[n]` makes n
/// elements missing: the field is an iterator of their continuations; for n = 0, it adds no missing argument. Otherwise
/// the elements of a `Vector<T>` come from an array or an iterator that knows its length.
///
/// Panics outside a computation (`closure::top`).
#[proc_macro]
pub fn make_closure(tokens: TokenStream) -> TokenStream {
    found(finespun_compiler::make_closure(tokens.into()))
}

/// Continues with another thread: `tail_call!(thread, a, b, c)`, the last action of a thread.
///
/// A plain call of the thread's code, without a closure and without the scheduler. If the stack is nearly used up, or a
/// request to this worker is pending, a closure is posted instead.
#[proc_macro]
pub fn tail_call(tokens: TokenStream) -> TokenStream {
    found(finespun_compiler::tail_call(tokens.into()))
}
