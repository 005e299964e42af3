//! The events of a body's locals and the graph of events, which [`graph`](super::graph) builds.

use std::collections::{BTreeSet, HashMap, HashSet};

use proc_macro2::Span;
use syn::{Pat, Type};

use crate::ir::{BlockId, PointId};
use crate::kinds::Kind;

/// A location in the body where the resumable code can be entered, or where control paths meet.
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

/// An event of a local.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Use {
    /// Bound, with a value (true) or without.
    Declare(bool),
    /// Used by value: moved, or copied.
    Value,
    /// Destructured by a pattern: moved, unless it is `Copy`.
    Named,
    /// Destructured by a pattern that binds every field of its type: moved, unless the type has a destructor.
    Fields,
    /// Read or changed in place.
    Borrow,
    /// A field, if it is known which, is read or changed in place.
    Part(Option<Field>),
    /// A field is used by value: copied, or moved out.
    TakePart(Option<Field>),
    /// A field gets a new value.
    AssignPart(Field),
    /// Perhaps used by value: the receiver of an unknown method.
    Maybe,
    /// Assigned a new value.
    Assign,
    /// Moved into a part of the body, which may name only a part of it.
    Given,
}

pub(crate) enum Event {
    Nothing,
    Use(usize, Use, Span),
    /// A location, with the locals in scope in order of declaration.
    Place(Place, Vec<usize>),
}

/// A local that a part of the body takes.
pub(crate) struct Given {
    pub(crate) point: PointId,
    pub(crate) var: usize,
    /// An event before the part.
    pub(crate) before: usize,
    /// The part assigns it.
    pub(crate) assigned: bool,
    /// It is a local of the body, and the part names it before its first await only.
    pub(crate) early: bool,
}

#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) events: Vec<Event>,
    pub(crate) next: Vec<Vec<usize>>,
    /// The kind of each local, by its index in [`Names`].
    pub(crate) kinds: Vec<Kind>,
    /// The kinds of the operands of each await point, with the locals that they borrow from.
    pub(crate) lent: Vec<Kind>,
    /// The locals that parts of the body take.
    pub(crate) given: Vec<Given>,
    /// The uses of locals as receivers of methods.
    pub(crate) receivers: HashSet<usize>,
    /// References that a new local receives at each location.
    pub(crate) carried: HashMap<Place, Kind>,
    /// The type of each local, where it is written.
    pub(crate) types: Vec<Option<Type>>,
    /// The named fields of locals: the local, and the path below it with a `.` behind each name.
    pub(crate) fields: Vec<(usize, String)>,
    /// The locals that each local borrows from through values stored in it after its binding.
    pub(crate) stored: Vec<BTreeSet<(usize, bool)>>,
    /// Locals of which a method of unknown name may store references, or a value whose type may hide them.
    pub(crate) kept: BTreeSet<usize>,
    /// Unreachable parts of a block: nodes by their index, then the block's value, then the block's end.
    pub(crate) unreached: HashSet<(BlockId, usize)>,
}

impl Graph {
    /// Returns the order in which the locals are declared: drops run in the reverse order.
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

/// The properties of the function itself that a recursive call reveals.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) name: Option<syn::Ident>,
    /// The function is not a method.
    pub(crate) free: bool,
    /// The types of the parameters, without the receiver.
    pub(crate) inputs: Vec<Type>,
    pub(crate) output: Option<Type>,
    /// The type parameters.
    pub(crate) generics: Vec<syn::Ident>,
}
