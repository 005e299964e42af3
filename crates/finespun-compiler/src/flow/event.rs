//! What happens to the locals of a body, event by event: the graph itself, which [`graph`](super::graph) builds.

use std::collections::{BTreeSet, HashMap, HashSet};

use proc_macro2::Span;
use syn::{Pat, Type};

use crate::ir::{BlockId, PointId};
use crate::kinds::Kind;

/// A place where the resumable code can be entered or joined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) enum Place {
    /// After an await.
    Point(PointId),
    /// The head of the loop at this node.
    Head(BlockId, usize),
    /// After the compound node.
    After(BlockId, usize),
}

/// Index into [`Graph::fields`].
pub(crate) type Field = usize;

/// What happens to a local.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Use {
    /// Bound, with or without a value.
    Declare(bool),
    /// Used by value: moved, or copied.
    Value,
    /// Taken apart by a pattern: moved, unless it is `Copy`.
    Named,
    /// Taken apart by a pattern that binds every field of its type: moved, unless the type has a destructor.
    Fields,
    /// Looked at or changed in place.
    Borrow,
    /// A field of it, if it is known which, is looked at or changed in place.
    Part(Option<Field>),
    /// A field of it is used by value: copied, or moved out of it.
    TakePart(Option<Field>),
    /// A field of it is given a new value.
    AssignPart(Field),
    /// Perhaps used by value: the receiver of an unknown method.
    Maybe,
    /// Given a new value.
    Assign,
}

pub(crate) enum Event {
    Nothing,
    Use(usize, Use, Span),
    /// A place, with the locals in scope in order of declaration.
    Place(Place, Vec<usize>),
}

#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) events: Vec<Event>,
    pub(crate) next: Vec<Vec<usize>>,
    /// What is known of each local, by its index in [`Names`].
    pub(crate) kinds: Vec<Kind>,
    /// What the operands of each point borrow from.
    pub(crate) lent: Vec<Kind>,
    /// References that go into a new local there.
    pub(crate) carried: HashMap<Place, Kind>,
    /// The type of each local, where it is written.
    pub(crate) types: Vec<Option<Type>>,
    /// The fields of locals that are named: the local, and the path below it with a `.` behind each name.
    pub(crate) fields: Vec<(usize, String)>,
    /// What each local borrows from by what is stored in it after it has been bound.
    pub(crate) stored: Vec<BTreeSet<(usize, bool)>>,
    /// Where control never comes: nodes of a block, behind the last one its value, and behind that its end.
    pub(crate) unreached: HashSet<(BlockId, usize)>,
}

impl Graph {
    /// The order in which the locals are declared: drops come in the reverse order.
    pub(crate) fn rank(&self) -> Vec<usize> {
        let mut rank = vec![usize::MAX; self.kinds.len()];
        for (node, event) in self.events.iter().enumerate() {
            if let Event::Use(var, Use::Declare(_), _) = event {
                rank[*var] = rank[*var].min(node);
            }
        }
        rank
    }
}

/// A parameter, its binders renamed.
pub(crate) struct Bound {
    pub(crate) pat: Pat,
    pub(crate) kind: Kind,
    pub(crate) ty: Option<Type>,
}

/// The function itself, as far as a call of it by itself tells something.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) name: Option<syn::Ident>,
    /// It is no method.
    pub(crate) free: bool,
    /// The types of its parameters, without the receiver.
    pub(crate) inputs: Vec<Type>,
    pub(crate) output: Option<Type>,
    /// Its type parameters.
    pub(crate) generics: Vec<syn::Ident>,
}
