//! Generates statements with branches, and exits.

use super::From;
use super::Gen;
use super::control::bare;
use super::places::Use;
use crate::tree::Node;
use crate::types::Ty;

impl Gen {
    /// Returns `{ statements }`, which may end early.
    pub(super) fn block(&mut self, count: usize, depth: usize) -> Node {
        self.scoped(|g| {
            let items = g.items(count, depth.saturating_sub(1));
            Node::other("{ # }", vec![Node::list(items)])
        })
    }

    fn size(&mut self) -> usize {
        1 + self.rng.weighted(&[4, 4, 2, 1])
    }

    /// Returns a block whose end is unreachable.
    pub(super) fn exit_block(&mut self, count: usize) -> Node {
        let target = self.target();
        let floor = self.leave_floor(&target);
        let node = self.scoped(|g| {
            let items = g.items(count, 0);
            if g.dead {
                return Node::other("{ # }", vec![Node::list(items)]);
            }
            let exit = g.exit(&target);
            let end = g.rng.word(&["", ";"]);
            Node::other(&format!("{{ # #{end} }}"), vec![Node::list(items), exit])
        });
        self.floor = floor;
        node
    }

    fn target(&mut self) -> Exit {
        let from = self.rng.below(10);
        if from < 3 || self.jumps.is_empty() {
            return if from == 2 && self.rng.percent(30) { Exit::Panic } else { Exit::Return };
        }
        let at = if self.rng.percent(70) { self.jumps.len() - 1 } else { self.rng.below(self.jumps.len()) };
        let jump = &self.jumps[at];
        match jump.is_loop && jump.value.is_none() && self.rng.percent(40) {
            true => Exit::Continue(at),
            false => Exit::Break(at),
        }
    }

    fn exit(&mut self, target: &Exit) -> Node {
        let node = match target {
            Exit::Panic => {
                let k = self.fresh_number();
                Node::other(&format!("panic!(\"panic {k}\")"), vec![])
            }
            Exit::Return => {
                let ret = self.ret.clone();
                if ret == Ty::Unit {
                    return self.ended(Node::other("return", vec![]));
                }
                let value = self.expr(&ret, 2);
                Node::other("return #", vec![value])
            }
            Exit::Break(at) | Exit::Continue(at) => {
                let jump = self.jumps[*at].clone();
                // Inside a labelled block, every jump needs a label.
                let innermost = self.jumps.len() - 1 == *at;
                let plain = innermost && jump.is_loop && (jump.label.is_none() || self.rng.percent(50));
                let label = match (&jump.label, plain) {
                    (Some(label), false) => format!(" {label}"),
                    (None, false) => return self.exit(&Exit::Return),
                    _ => String::new(),
                };
                let value = match (&jump.value, target) {
                    (Some(ty), Exit::Break(_)) => Some(self.expr(&ty.clone(), 1)),
                    _ => None,
                };
                if matches!(target, Exit::Break(_)) {
                    let mut flow = self.flow();
                    flow.truncate(jump.vars);
                    self.jumps[*at].breaks.push(flow);
                }
                let word = if matches!(target, Exit::Break(_)) { "break" } else { "continue" };
                match value {
                    Some(value) => Node::other(&format!("{word}{label} #"), vec![bare(value)]),
                    None => Node::other(&format!("{word}{label}"), vec![]),
                }
            }
        };
        self.ended(node)
    }

    fn ended(&mut self, node: Node) -> Node {
        self.dead = true;
        node
    }

    /// Returns an exit as an expression.
    pub(super) fn exit_expression(&mut self) -> Node {
        let target = self.target();
        let floor = self.leave_floor(&target);
        let node = self.exit(&target);
        self.floor = floor;
        node
    }

    /// Allows moves of variables outside the loop that is left; returns the previous floor.
    fn leave_floor(&mut self, target: &Exit) -> usize {
        let floor = match target {
            Exit::Return => 0,
            Exit::Break(at) => self.jumps[*at].floor,
            Exit::Continue(_) | Exit::Panic => self.floor,
        };
        std::mem::replace(&mut self.floor, floor)
    }

    /// Returns `if condition { exit }`.
    pub(super) fn leaving(&mut self) -> Node {
        let condition = self.scoped(|g| g.condition(1));
        let start = self.flow();
        let count = self.rng.below(3);
        let block = self.exit_block(count);
        if self.rng.percent(20) {
            let first = self.flow();
            self.resume(&start);
            let other = self.block(1, 1);
            let second = self.flow();
            self.meet(&[first, second]);
            return Node::item("if # # else #", vec![condition, block, other]);
        }
        self.resume(&start);
        Node::item("if # #", vec![condition, block])
    }

    pub(super) fn branch(&mut self, depth: usize) -> Node {
        let condition = self.scoped(|g| g.condition(2));
        let start = self.flow();
        let count = self.size();
        let first = self.block(count, depth);
        let after = self.flow();
        self.resume(&start);
        if self.rng.percent(50) {
            self.meet(&[after, start]);
            return Node::item("if # #", vec![condition, first]);
        }
        if self.rng.percent(20) {
            let condition2 = self.scoped(|g| g.condition(1));
            let between = self.flow();
            let second = self.block(1, depth);
            let other = self.flow();
            self.resume(&between);
            let third = self.block(1, depth);
            let last = self.flow();
            self.meet(&[after, other, last]);
            return Node::item("if # # else if # # else #", vec![condition, first, condition2, second, third]);
        }
        let count = self.size();
        if self.rng.percent(12) {
            // `else if let`.
            let ty = Ty::Opt(Box::new(Ty::D));
            let value = self.expr(&ty, 1);
            let between = self.flow();
            let (pat, second) = self.scoped(|g| {
                let (pat, bound) = g.pattern(&ty, false, &From::Value, 2);
                g.vars.extend(bound);
                (pat, g.block(count, depth))
            });
            let other = self.flow();
            self.resume(&between);
            let third = self.block(1, depth);
            let last = self.flow();
            self.meet(&[after, other, last]);
            let children = vec![condition, first, pat, value, second, third];
            return Node::item("if # # else if let # = (#) # else #", children);
        }
        let second = self.block(count, depth);
        let other = self.flow();
        self.meet(&[after, other]);
        Node::item("if # # else #", vec![condition, first, second])
    }

    pub(super) fn if_let(&mut self, depth: usize) -> Node {
        let temps = self.temps.len();
        let chained = self.rng.percent(40);
        let (ty, scrutinee, from) = if chained { self.pinning(Gen::tested) } else { self.tested() };
        let start = self.flow();
        let count = self.size();
        let outside = self.vars.len();
        let (pat, chain, missed, first) = self.scoped(|g| {
            let (pat, bound) = g.pattern(&ty, false, &from, 2);
            g.vars.extend(bound);
            let chain = match g.rng.below(2) {
                _ if !chained => None,
                0 => {
                    let condition = g.pinning(|g| g.condition(1));
                    Some(Node::other("&& #", vec![condition]))
                }
                _ => {
                    let ty = Ty::Opt(Box::new(Ty::D));
                    let value = g.pinning(|g| g.expr(&ty, 1));
                    let (pat, bound) = g.pattern(&ty, false, &From::Value, 2);
                    g.vars.extend(bound);
                    Some(Node::other("&& let # = (#)", vec![pat, value]))
                }
            };
            // The chain has moved its operands even where it does not hold.
            let mut missed = g.flow();
            missed.truncate(outside);
            (pat, chain, missed, g.block(count, depth))
        });
        let after = self.flow();
        let start = if chain.is_some() { missed } else { start };
        self.resume(&start);
        let mut children = vec![pat, Node::other("(#)", vec![scrutinee])];
        let mut template = "if let # = #".to_string();
        if let Some(chain) = chain {
            template += " #";
            children.push(chain);
        }
        template += " #";
        children.push(first);
        if self.rng.percent(50) {
            self.meet(&[after, start]);
            self.release(temps);
            return Node::item(&template, children);
        }
        let second = self.block(1, depth);
        let other = self.flow();
        self.meet(&[after, other]);
        self.release(temps);
        children.push(second);
        Node::item(&format!("{template} else #"), children)
    }

    /// Returns the scrutinee of an `if let`.
    fn tested(&mut self) -> (Ty, Node, From) {
        let good = |ty: &Ty| matches!(ty, Ty::Opt(_) | Ty::Res(..) | Ty::Shape);
        match self.rng.below(4) {
            0 => {
                if let Some(place) = self.place(Use::Move, good) {
                    let from = From::Place(place.var, place.part.clone());
                    return (place.ty, Node::other(&place.text, vec![]), from);
                }
            }
            1 if self.may_borrow() => {
                if let Some(place) = self.place(Use::Read, good) {
                    self.lend_here(place.var, false);
                    let from = From::Behind(Some(place.var), false);
                    return (place.ty, Node::other(&format!("&{}", place.text), vec![]), from);
                }
            }
            _ => {}
        }
        let ty = match self.rng.below(3) {
            0 => Ty::Res(Box::new(Ty::D), Box::new(Ty::D)),
            1 => Ty::Shape,
            _ => Ty::Opt(Box::new(self.droppable(1))),
        };
        let value = self.expr(&ty, 2);
        (ty, value, From::Value)
    }

    pub(super) fn match_statement(&mut self, depth: usize) -> Node {
        let (head, arms) = self.arms(depth, |g| match g.rng.below(6) {
            0 => {
                let k = g.fresh_number();
                Node::other(&format!("t.log(\"arm {k}\"),"), vec![])
            }
            1 => Node::other("{}", vec![]),
            2 if g.rng.percent(50) => {
                let exit = g.exit_block(0);
                Node::other("#", vec![exit])
            }
            3 if g.may_await() => {
                let value = g.small_number();
                Node::other("eat(leaf(#).await),", vec![value])
            }
            _ => {
                let count = g.size();
                g.block(count, depth)
            }
        });
        let end = self.rng.word(&["", "", ";"]);
        Node::item(&format!("match # {{ # }}{end}"), vec![head, arms])
    }

    pub(super) fn inner_block(&mut self, depth: usize) -> Node {
        let count = self.size();
        let block = self.block(count, depth);
        Node::item("#", vec![block])
    }

    pub(super) fn labelled_statement(&mut self, depth: usize) -> Node {
        let label = format!("'b{}", self.fresh_number());
        self.enter(Some(label.clone()), false, None);
        let count = 1 + self.size();
        let block = self.block(count, depth);
        let end = self.flow();
        self.leave(Some(end));
        Node::item(&format!("{label}: #"), vec![block])
    }
}

/// The way in which a block is left.
enum Exit {
    Return,
    Panic,
    Break(usize),
    Continue(usize),
}
