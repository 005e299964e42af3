//! The normalised body: every await is at statement level.
//!
//! Code that awaits nothing stays as the user wrote it ([`Node::Plain`], and the expressions inside other nodes); code
//! that contains an await has its own node. Both versions of a stack task are written from this tree.

use quote::ToTokens;
use syn::{Expr, Ident, Item, Label, Pat, Stmt, Type};

use crate::flow::pattern::takes_all;
use crate::{macros, scan};

/// Index into [`Body::blocks`].
pub(crate) type BlockId = usize;
/// Index into [`Body::points`].
pub(crate) type PointId = usize;

/// A whole body.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) blocks: Vec<Block>,
    pub(crate) points: Vec<Point>,
    pub(crate) root: BlockId,
    /// Items at the top of the body, emitted once.
    pub(crate) items: Vec<Stmt>,
    /// Locals that are used by value before an await; the normalised body names them after it instead.
    pub(crate) postponed: Vec<(syn::Ident, proc_macro2::Span)>,
}

/// Statements and a value.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) nodes: Vec<Node>,
    /// The value without an await; `None` is `()`, or unreachable.
    pub(crate) value: Option<Expr>,
    /// The node that this block is part of.
    pub(crate) parent: Option<(BlockId, usize)>,
}

/// The destination of a value.
pub(crate) enum Dest {
    /// A new local.
    Let(Box<Pat>, Option<Box<Type>>),
    /// The value is discarded.
    Unit,
    /// The value is the value of the block whose last node this is.
    Value,
    /// The value is the result of the task.
    Tail,
}

/// One statement.
pub(crate) enum Node {
    /// Awaits nothing.
    Plain(Stmt),
    /// `let out = call.await`.
    Await(PointId),
    If {
        cond: Expr,
        then: BlockId,
        other: Option<BlockId>,
        out: Dest,
    },
    Match {
        expr: Expr,
        arms: Vec<(Pat, BlockId)>,
        out: Dest,
    },
    /// All loops.
    Loop {
        label: Option<Label>,
        body: BlockId,
        out: Dest,
    },
    Scope {
        label: Option<Label>,
        body: BlockId,
        out: Dest,
        /// The scope ends with a statement: in the plain function, a value for a new local is in that local before the
        /// scope ends.
        statement: bool,
    },
}

/// The awaited call or calls.
#[allow(clippy::large_enum_variant, reason = "a body has few")]
pub(crate) enum Call {
    One(Expr),
    Join(Vec<Expr>),
}

/// One await.
pub(crate) struct Point {
    pub(crate) call: Call,
    pub(crate) out: Dest,
    pub(crate) span: proc_macro2::Span,
}

impl Call {
    pub(crate) fn operands(&self) -> &[Expr] {
        match self {
            Call::One(e) => std::slice::from_ref(e),
            Call::Join(all) => all,
        }
    }
}

impl Node {
    /// Returns the blocks inside.
    pub(crate) fn children(&self) -> Vec<BlockId> {
        match self {
            Node::Plain(_) | Node::Await(_) => Vec::new(),
            Node::If { then, other, .. } => std::iter::once(*then).chain(*other).collect(),
            Node::Match { arms, .. } => arms.iter().map(|(_, b)| *b).collect(),
            Node::Loop { body, .. } | Node::Scope { body, .. } => vec![*body],
        }
    }

    /// Returns whether the node's value is in a new local before its scopes end.
    pub(crate) fn early(&self) -> bool {
        // The parts that a pattern leaves unbound are dropped with the statement, so the value must not be in a local.
        matches!(self, Node::Scope { statement: true, out: Dest::Let(pat, _), .. } if takes_all(pat))
    }

    /// Returns the destination of a compound node's value.
    pub(crate) fn out(&self) -> Option<&Dest> {
        match self {
            Node::Plain(_) | Node::Await(_) => None,
            Node::If { out, .. } | Node::Match { out, .. } | Node::Loop { out, .. } | Node::Scope { out, .. } => {
                Some(out)
            }
        }
    }
}

impl Body {
    /// Returns the await points in a node, at any depth.
    pub(crate) fn points_in(&self, block: BlockId, index: usize) -> Vec<PointId> {
        match &self.blocks[block].nodes[index] {
            Node::Await(point) => vec![*point],
            node => {
                let nodes = |inner: BlockId| (0..self.blocks[inner].nodes.len()).map(move |n| (inner, n));
                node.children().into_iter().flat_map(nodes).flat_map(|(inner, n)| self.points_in(inner, n)).collect()
            }
        }
    }

    /// Returns whether a type may name something that only the body knows: an inferred type, or one of the body's
    /// items.
    pub(crate) fn names_in(&self, ty: &Type) -> bool {
        let nodes = self.blocks.iter().flat_map(|block| &block.nodes);
        let inner = nodes.filter_map(|node| match node {
            Node::Plain(stmt) => Some(stmt),
            _ => None,
        });
        let items = self.items.iter().chain(inner).filter_map(|stmt| match stmt {
            Stmt::Item(item) => Some(item),
            _ => None,
        });
        let items: Vec<&Item> = items.collect();
        let declared = |name: &Ident| items.iter().any(|item| scan::declares(item, name));
        macros::mentions(&ty.to_token_stream(), &|name| name == "_" || declared(name))
    }

    /// Returns whether this block contains a `break`.
    pub(crate) fn breaks(&self, block: BlockId) -> bool {
        let text = |t: proc_macro2::TokenStream| macros::mentions(&t, &|i| i == "break");
        let block = &self.blocks[block];
        let here = block.nodes.iter().any(|node| match node {
            Node::Plain(stmt) => text(quote::quote!(#stmt)),
            Node::Await(point) => self.points[*point].call.operands().iter().any(|e| text(quote::quote!(#e))),
            Node::If { cond, .. } => text(quote::quote!(#cond)),
            Node::Match { expr, .. } => text(quote::quote!(#expr)),
            Node::Loop { .. } | Node::Scope { .. } => false,
        });
        let value = &block.value;
        here || text(quote::quote!(#value)) || block.nodes.iter().flat_map(Node::children).any(|b| self.breaks(b))
    }

    /// Sets the parent node of every block.
    pub(crate) fn link(&mut self) {
        for block in 0..self.blocks.len() {
            for index in 0..self.blocks[block].nodes.len() {
                for child in self.blocks[block].nodes[index].children() {
                    self.blocks[child].parent = Some((block, index));
                }
            }
        }
    }
}
