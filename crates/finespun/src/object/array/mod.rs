//! Arrays of objects, distributed over the nodes.
//!
//! Each node that has elements has a *part*: its elements, in the order of their indices. The node stores that list as
//! a hidden object, so a message only contains a reference to it. An operation on all elements sends each of these
//! nodes one message; the node calls its own elements one after the other on its worker's stack (the papers'
//! data-parallel structure [H §2]). A call that suspends becomes a frame, and the node proceeds to the next element; so
//! all waits overlap, and the part's loop resumes when the last call has ended. The messages descend a tree and the
//! answers ascend it, so a node sends and receives at most a few. In a run that has sent one-way calls, the caller
//! sends to all nodes directly instead.
//!
//! The submodules: creating an array ([`create`]), a node's part ([`portion`]), the tree ([`each`]), a part's calls
//! ([`sweeping`]) and their arguments ([`supply`]), and the usual [`layout`]s.

mod create;
mod each;
pub mod layout;
mod portion;
mod supply;
mod sweeping;

use std::panic::Location;
use std::sync::Arc;

use super::Portable;
use super::reference::{Object, Ref};
use crate::call::Task;

pub use create::Creating;
pub use each::{Each, Freeing};
use portion::Portion;
pub use supply::Calls;
use supply::{Own, Same};

/// A handle to objects of type `T`, by index, each on the node that a layout assigns. The objects live until they are
/// freed or their runtime ends: dropping the handle leaves them alone.
///
/// ```
/// use finespun::layout;
/// use finespun::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Cell {
///     heat: f64,
/// }
///
/// #[object]
/// impl Cell {
///     fn heat(&self) -> f64 {
///         self.heat
///     }
///
///     fn cool(&mut self) {
///         self.heat /= 2.0;
///     }
/// }
///
/// #[task]
/// async fn cooled() -> f64 {
///     let layout = layout::block(1000, nodes());
///     let cells = Array::create(1000, layout, |index, hottest| Cell { heat: hottest - index as f64 }, 1000.0).await;
///     cells.each(|cell| cell.cool()).await;
///     cells.get(600).heat().await
/// }
/// # let runtime = Runtime::builder().workers(2).nodes(4).build().unwrap();
/// assert_eq!(runtime.run(cooled()), 200.0);
/// ```
pub struct Array<T> {
    /// The elements by index.
    elements: Arc<[Ref<T>]>,
    /// The nodes that have elements, with their indices.
    parts: Arc<[NodePart<T>]>,
}

/// One node's part of an array.
struct NodePart<T> {
    portion: Ref<Portion<T>>,
    /// The indices of the part's elements, ascending.
    indices: Arc<[usize]>,
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Array<T> {
        Array { elements: Arc::clone(&self.elements), parts: Arc::clone(&self.parts) }
    }
}

impl<T: Object> Array<T> {
    /// Creates `len` objects: the `i`th on node `layout(i)`, by `make(i, arguments)`, which runs there and captures
    /// nothing. [`layout`](crate::layout) has the usual layouts.
    ///
    /// # Panics
    /// If the layout names a node that does not exist. If `make` panics, or a node has no room: with the panic of the first such node, when
    /// all nodes have finished. The objects created until then are dropped with the runtime.
    #[track_caller]
    pub fn create<A, F>(len: usize, layout: impl Fn(usize) -> usize, make: F, args: A) -> Creating<T, A, F>
    where
        A: Portable + Clone,
        F: Fn(usize, &A) -> T + Copy + Send + 'static,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "a function that makes objects on other nodes must not capture anything: pass data as its arguments"
            )
        };
        let mut nodes: Vec<Vec<usize>> = Vec::new();
        for index in 0..len {
            let node = layout(index);
            assert!(node < 1 << 16, "the layout of an array names node {node}: there are 65536 nodes at most");
            if node >= nodes.len() {
                nodes.resize(node + 1, Vec::new());
            }
            nodes[node].push(index);
        }
        Creating::new(len, nodes, make, args, Location::caller())
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Returns whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Returns the object at an index.
    ///
    /// # Panics
    /// If the index is out of bounds.
    #[track_caller]
    pub fn get(&self, index: usize) -> Ref<T> {
        self.elements[index]
    }

    /// Returns all objects, by index.
    pub fn elements(&self) -> &[Ref<T>] {
        &self.elements
    }

    /// Calls `call` for every object, at its home, and delivers the results by index:
    /// `points.each(|point| point.compute())`.
    /// `call` captures nothing; [`each_with`](Array::each_with) and [`each_sharing`](Array::each_sharing) pass
    /// arguments.
    ///
    /// Costs one message and one answer per other node that has objects, and one restart of the caller. The messages
    /// descend a tree, in which a node sends at most eight, unless the run has sent one-way calls: then the caller
    /// sends all. A node calls its own objects in index order; if a call suspends, it makes the next one.
    ///
    /// # Panics
    /// With the panic of a call, when all calls have ended. A panic stops further calls at its node.
    #[track_caller]
    pub fn each<F, Tk>(&self, call: F) -> Each<T, Same<()>, impl Calls<T, (), Output = Tk::Output> + use<T, F, Tk>>
    where
        F: Fn(Ref<T>) -> Tk + Copy + Send + 'static,
        Tk: Task + 'static,
        Tk::Output: Portable,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "a function that runs on other nodes must not capture anything: use `each_with`"
            )
        };
        let calls = move |element, ()| call(element);
        Each::new(self.clone(), Same(()), calls, Location::caller())
    }

    /// Like [`each`](Array::each), with one argument per object: `args[i]` for the object at index `i`.
    ///
    /// # Panics
    /// If the numbers of arguments and objects differ, and as [`each`](Array::each).
    #[track_caller]
    pub fn each_with<A, F, Tk>(
        &self,
        args: Vec<A>,
        call: F,
    ) -> Each<T, Own<A>, impl Calls<T, A, Output = Tk::Output> + use<T, A, F, Tk>>
    where
        A: Portable,
        F: Fn(Ref<T>, A) -> Tk + Copy + Send + 'static,
        Tk: Task + 'static,
        Tk::Output: Portable,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "a function that runs on other nodes must not capture anything: pass data as its argument"
            )
        };
        assert_eq!(args.len(), self.len(), "an array takes one argument for each of its objects");
        Each::new(self.clone(), Own::new(args), call, Location::caller())
    }

    /// Like [`each`](Array::each), with one argument, a clone of which is passed to each call.
    ///
    /// # Panics
    /// As [`each`](Array::each).
    #[track_caller]
    pub fn each_sharing<A, F, Tk>(
        &self,
        argument: A,
        call: F,
    ) -> Each<T, Same<A>, impl Calls<T, A, Output = Tk::Output> + use<T, A, F, Tk>>
    where
        A: Portable + Clone,
        F: Fn(Ref<T>, A) -> Tk + Copy + Send + 'static,
        Tk: Task + 'static,
        Tk::Output: Portable,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "a function that runs on another node must not capture anything: pass data as its argument"
            )
        };
        Each::new(self.clone(), Same(argument), call, Location::caller())
    }
}

impl<T: Object> Array<T> {
    /// Drops all objects, each as [`Ref::free`] does, and the nodes' parts of the array. Later calls of its elements
    /// are errors, through any handle.
    ///
    /// # Panics
    /// If the array or one of its elements has been dropped already, or if a destructor panics; in each case after all
    /// other elements have been dropped.
    #[track_caller]
    pub fn free(&self) -> Freeing<T> {
        Freeing::new(self.clone(), Location::caller())
    }
}

/// A collector of one value per index below a bound, in any order of arrival.
struct InOrder<V>(Vec<Option<V>>);

impl<V> InOrder<V> {
    fn of(len: usize) -> InOrder<V> {
        let mut all = Vec::new();
        all.resize_with(len, || None);
        InOrder(all)
    }

    fn put(&mut self, index: usize, value: V) {
        self.0[index] = Some(value);
    }

    fn values(self) -> Vec<V> {
        self.0.into_iter().map(|value| value.expect("each index once")).collect()
    }
}
