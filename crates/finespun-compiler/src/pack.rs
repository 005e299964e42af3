//! Packs the finished locals of long bodies.
//!
//! A local stays alive until its scope ends, because its type may have a destructor, even if it is not named again. Each
//! await carries all such locals, so the code of a body would grow with the square of its awaits. Therefore a run of
//! finished locals becomes one local: a tuple, whose fields drop in the order in which the locals would. Tuples are packed
//! again.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Stmt;

use crate::flow::capture::Flow;
use crate::flow::event::Place;
use crate::ir::{BlockId, Body, Dest, Node};
use crate::macros;
use crate::names::{Names, binders};

/// A body with more awaits is long.
const FEW: usize = 16;

/// The locals of a tuple.
const WIDTH: usize = 4;

/// Packs the locals of a body, of which `flow` is the analysis. Returns whether there were any.
pub(crate) fn finished(body: &mut Body, flow: &Flow, names: &mut Names) -> bool {
    if body.points.len() <= FEW {
        return false;
    }
    let packed = (0..body.blocks.len()).filter(|&block| pack(body, block, flow, names)).count();
    packed > 0
}

fn pack(body: &mut Body, block: BlockId, flow: &Flow, names: &mut Names) -> bool {
    let mut own = HashSet::new();
    // The last node that names a local of this block.
    let mut last: HashMap<usize, usize> = HashMap::new();
    for index in 0..=body.blocks[block].nodes.len() {
        own.extend(declared(body, block, index).iter().filter_map(|name| names.find(name)));
        let named = mentioned(body, block, index);
        last.extend(named.iter().filter_map(|name| Some((names.find(name)?, index))));
    }
    let mut packed: HashMap<usize, usize> = HashMap::new();
    let mut levels: HashMap<usize, usize> = HashMap::new();
    let mut tuples = Vec::new();
    for index in 0..body.blocks[block].nodes.len() {
        let Node::Await(point) = body.blocks[block].nodes[index] else { continue };
        let Some(live) = flow.live.get(&Place::Point(point)) else { continue };
        let outermost = |mut var: usize| {
            while let Some(&tuple) = packed.get(&var) {
                var = tuple;
            }
            var
        };
        let mut live: Vec<usize> = live.iter().map(|&var| outermost(var)).collect();
        live.dedup();
        // Only the youngest locals: others would drop after locals that are declared later.
        let finished = |var: usize| {
            let ended = own.contains(&var) && last.get(&var).is_none_or(|&at| at < index);
            levels.contains_key(&var)
                || (ended && !flow.guessed.contains(&var) && !flow.borrows[var] && !flow.assigned[var])
        };
        let mut run: Vec<usize> = live.iter().rev().copied().take_while(|&var| finished(var)).collect();
        loop {
            let level = |var: &usize| levels.get(var).copied().unwrap_or(0);
            let Some(lowest) = run.first().map(level) else { break };
            let count = run.iter().take_while(|var| level(var) == lowest).count();
            if count < WIDTH {
                break;
            }
            let name = names.temporary("finished");
            let tuple = names.find(&name).expect("a new local");
            let fields = run.drain(..count);
            let keys: Vec<Ident> = fields.as_slice().iter().map(|&var| names.vars[var].key.clone()).collect();
            packed.extend(fields.map(|var| (var, tuple)));
            tuples.push((index, quote_spanned!(Span::mixed_site()=> let #name = (#(#keys,)*);)));
            levels.insert(tuple, lowest + 1);
            run.insert(0, tuple);
        }
    }
    let any = !tuples.is_empty();
    insert(body, block, tuples);
    any
}

/// Inserts statements in front of nodes.
fn insert(body: &mut Body, block: BlockId, tuples: Vec<(usize, TokenStream)>) {
    let shift = |index: usize| index + tuples.iter().filter(|(at, _)| *at <= index).count();
    for inner in &mut body.blocks {
        if let Some((outer, index)) = &mut inner.parent
            && *outer == block
        {
            *index = shift(*index);
        }
    }
    let nodes = &mut body.blocks[block].nodes;
    for (at, tuple) in tuples.into_iter().rev() {
        let stmt: Stmt = syn::parse2(tuple).expect("a let statement");
        nodes.insert(at, Node::Plain(stmt));
    }
}

/// Returns the locals that a node of a block declares there.
fn declared(body: &Body, block: BlockId, index: usize) -> Vec<Ident> {
    let out = match body.blocks[block].nodes.get(index) {
        Some(Node::Plain(Stmt::Local(local))) => return binders(&local.pat),
        Some(Node::Await(point)) => Some(&body.points[*point].out),
        Some(node) => node.out(),
        None => None,
    };
    match out {
        Some(Dest::Let(pat, _)) => binders(pat),
        _ => Vec::new(),
    }
}

/// Returns the names in a node, at any depth. The last index is the value of the block.
fn mentioned(body: &Body, block: BlockId, index: usize) -> Vec<Ident> {
    let content = &body.blocks[block];
    let Some(node) = content.nodes.get(index) else {
        return macros::idents(&content.value.to_token_stream());
    };
    let mut tokens = TokenStream::new();
    match node {
        Node::Plain(stmt) => stmt.to_tokens(&mut tokens),
        Node::Await(point) => body.points[*point].call.operands().iter().for_each(|e| e.to_tokens(&mut tokens)),
        Node::If { cond, .. } => cond.to_tokens(&mut tokens),
        Node::Match { expr, arms, .. } => {
            expr.to_tokens(&mut tokens);
            arms.iter().for_each(|(pat, _)| pat.to_tokens(&mut tokens));
        }
        Node::Loop { .. } | Node::Scope { .. } => {}
    }
    let mut names = macros::idents(&tokens);
    for inner in node.children() {
        (0..=body.blocks[inner].nodes.len()).for_each(|index| names.extend(mentioned(body, inner, index)));
    }
    names
}
