//! Generates expressions with branches, blocks and loops inside.

use super::Gen;
use super::places::Use;
use crate::tree::Node;
use crate::types::Ty;

impl Gen {
    /// Returns an expression of a type that contains control flow.
    pub(super) fn controlled(&mut self, ty: &Ty, depth: usize) -> Node {
        match self.rng.weighted(&[10, 6, 8, 5, 4, 3, 3]) {
            0 => self.either(ty, depth),
            1 => self.block_value(ty, depth),
            2 => self.matched(ty, depth),
            3 => self.labelled(ty, depth),
            4 => self.loop_value(ty, depth),
            5 => self.tried(ty, depth),
            _ => self.if_let_value(ty, depth),
        }
    }

    /// Returns `{ statements value }` with its own scope.
    pub(super) fn block_of(&mut self, ty: &Ty, depth: usize) -> Node {
        let count = self.rng.weighted(&[5, 3, 2]);
        self.scoped(|g| {
            let mut items = g.items(count, depth.saturating_sub(1));
            if g.dead {
                return Node::other("{ # }", vec![Node::list(items)]);
            }
            if g.rng.percent(8) {
                let exit = g.exit_expression();
                let end = g.rng.word(&["", ";"]);
                items.push(Node::item(&format!("#{end}"), vec![exit]));
                return Node::other("{ # }", vec![Node::list(items)]);
            }
            let value = g.expr(ty, depth.saturating_sub(1));
            Node::other("{ # # }", vec![Node::list(items), value])
        })
    }

    fn block_value(&mut self, ty: &Ty, depth: usize) -> Node {
        let dead = self.dead;
        let block = self.block_of(ty, depth);
        // Code after an expression that never ends is unreachable, but the generator goes on as before.
        self.dead = dead;
        Node::expr(ty, "#", vec![block])
    }

    fn either(&mut self, ty: &Ty, depth: usize) -> Node {
        let condition = self.scoped(|g| g.condition(depth.min(2)));
        let start = self.flow();
        let first = self.block_of(ty, depth);
        let after = self.flow();
        self.resume(&start);
        let second = self.block_of(ty, depth);
        let other = self.flow();
        self.meet(&[after, other]);
        self.dead = false;
        Node::expr(ty, "if # # else #", vec![condition, first, second])
    }

    fn if_let_value(&mut self, ty: &Ty, depth: usize) -> Node {
        let inner = self.droppable(1);
        let option = if self.rng.percent(70) { Ty::Opt(Box::new(inner)) } else { Ty::Shape };
        let start_temps = self.temps.len();
        let scrutinee = self.expr(&option, depth - 1);
        let start = self.flow();
        let (pat, first) = self.scoped(|g| {
            let (pat, bound) = g.pattern(&option, false, &super::From::Value, 2);
            g.vars.extend(bound);
            (pat, g.block_of(ty, depth))
        });
        let after = self.flow();
        self.resume(&start);
        let second = self.block_of(ty, depth);
        let other = self.flow();
        self.meet(&[after, other]);
        self.release(start_temps);
        self.dead = false;
        Node::expr(ty, "if let # = (#) # else #", vec![pat, scrutinee, first, second])
    }

    fn matched(&mut self, ty: &Ty, depth: usize) -> Node {
        let (head, arms) = self.arms(depth, |g| {
            if g.rng.percent(60) {
                let value = g.scoped(|g| g.expr(ty, depth.saturating_sub(1)));
                return Node::other("#,", vec![value]);
            }
            if g.rng.percent(12) {
                return g.bare_exit();
            }
            let block = g.block_of(ty, depth);
            Node::other("#", vec![block])
        });
        self.dead = false;
        Node::expr(ty, "match # { # }", vec![head, arms])
    }

    /// Returns a `return`, `break` or `continue` as the whole of an arm.
    fn bare_exit(&mut self) -> Node {
        let exit = self.exit_expression();
        Node::other(self.rng.word(&["#,", "#,", "{ # }", "{ #; }"]), vec![exit])
    }

    /// Returns the scrutinee and the arms of a `match`; `arm` generates the right side of the arrow, with its comma.
    pub(super) fn arms(&mut self, depth: usize, mut arm: impl FnMut(&mut Gen) -> Node) -> (Node, Node) {
        let temps = self.temps.len();
        let (head, ty, from) = self.scrutinee(depth);
        let start = self.flow();
        let mut flows = Vec::new();
        let mut items = Vec::new();
        let count = 1 + self.rng.below(2);
        for at in 0..=count {
            self.resume(&start);
            let last = at == count;
            let item = self.scoped(|g| {
                let (pat, bound) = match &ty {
                    Scrutinee::Of(_) if last => (Node::other("_", vec![]), Vec::new()),
                    Scrutinee::Of(ty) => g.pattern(ty, false, &from, 2),
                    Scrutinee::Slice(_, _) if last => (Node::other("_", vec![]), Vec::new()),
                    Scrutinee::Slice(item, owner) => g.slice(item, *owner),
                };
                let bare = pat.text() == "_" && !last;
                g.vars.extend(bound);
                let guard = if bare || (!last && g.rng.percent(25)) {
                    let floor = std::mem::replace(&mut g.floor, usize::MAX);
                    let guard = g.pinning(|g| g.condition(1));
                    g.floor = floor;
                    Some(guard)
                } else {
                    None
                };
                let right = arm(g);
                match guard {
                    Some(guard) => Node::item("# if # => #", vec![pat, guard, right]),
                    None => Node::item("# => #", vec![pat, right]),
                }
            });
            items.push(item);
            flows.push(self.flow());
        }
        self.meet(&flows);
        self.release(temps);
        (head, Node::list(items))
    }

    fn scrutinee(&mut self, depth: usize) -> (Node, Scrutinee, super::From) {
        let next = depth.saturating_sub(1).min(1);
        let good = |ty: &Ty| {
            matches!(
                ty,
                Ty::Opt(_)
                    | Ty::Res(..)
                    | Ty::Shape
                    | Ty::Pair(..)
                    | Ty::D
                    | Ty::Parts
                    | Ty::Two(_)
                    | Ty::Held
                    | Ty::Num
            )
        };
        match self.rng.below(8) {
            // A place, which the arms may destructure.
            0 | 1 => {
                if let Some(place) = self.place(Use::Move, good) {
                    let from = super::From::Place(place.var, place.part.clone());
                    return (Node::other(&place.text, vec![]), Scrutinee::Of(place.ty), from);
                }
            }
            2 if self.may_borrow() => {
                if let Some(place) = self.place(Use::Read, good) {
                    self.lend_here(place.var, false);
                    let from = super::From::Behind(Some(place.var), false);
                    return (Node::other(&format!("&{}", place.text), vec![]), Scrutinee::Of(place.ty), from);
                }
            }
            3 if self.may_borrow() => {
                if let Some(place) = self.place(Use::Change, good) {
                    self.lend_here(place.var, true);
                    let from = super::From::Behind(None, true);
                    return (Node::other(&format!("&mut {}", place.text), vec![]), Scrutinee::Of(place.ty), from);
                }
            }
            4 if self.may_borrow() => {
                if let Some(place) = self.place(Use::Read, |ty| matches!(ty, Ty::List(_))) {
                    self.lend_here(place.var, false);
                    let Ty::List(item) = place.ty else { unreachable!("a list was asked for") };
                    let text = format!("&{}[..]", place.text);
                    return (Node::other(&text, vec![]), Scrutinee::Slice(*item, Some(place.var)), super::From::Value);
                }
            }
            _ => {}
        }
        let ty = match self.rng.below(6) {
            0 => Ty::Opt(Box::new(self.droppable(1))),
            1 => Ty::Res(Box::new(Ty::D), Box::new(Ty::D)),
            2 => Ty::Shape,
            3 => Ty::Pair(Box::new(Ty::D), Box::new(Ty::Num)),
            4 => Ty::Num,
            _ => self.droppable(1),
        };
        let head = self.expr(&ty, next);
        // Without parentheses, a head that looks like a block would end the expression.
        let head = Node::other("(#)", vec![head]);
        (head, Scrutinee::Of(ty), super::From::Value)
    }

    fn labelled(&mut self, ty: &Ty, depth: usize) -> Node {
        let label = format!("'b{}", self.fresh_number());
        self.enter(Some(label.clone()), false, Some(ty.clone()));
        let block = self.block_of(ty, depth);
        let end = self.flow();
        self.leave(Some(end));
        self.dead = false;
        Node::expr(ty, &format!("{label}: #"), vec![block])
    }

    /// Returns a `loop` with a value that ends in its first or second iteration.
    fn loop_value(&mut self, ty: &Ty, depth: usize) -> Node {
        let label = if self.rng.percent(30) { Some(format!("'l{}", self.fresh_number())) } else { None };
        let before = label.as_ref().map_or(String::new(), |label| format!("{label}: "));
        self.enter(label.clone(), true, Some(ty.clone()));
        let floor = std::mem::replace(&mut self.floor, self.vars.len());
        let count = self.rng.below(3);
        let (items, value) = self.scoped(|g| {
            let items = g.items(count, depth.saturating_sub(1));
            let value = (!g.dead).then(|| {
                g.floor = floor;
                let value = g.expr(ty, depth.saturating_sub(1));
                let place = g.rng.below(4);
                let label = label.as_ref().filter(|_| place > 1).map_or(String::new(), |label| format!("{label} "));
                let end = g.rng.word(&["", ";"]);
                Node::other(&format!("break {label}#{end}"), vec![bare(value)])
            });
            (items, value)
        });
        self.floor = floor;
        let end = value.is_some().then(|| self.flow());
        self.leave(end);
        self.dead = false;
        match value {
            Some(value) => Node::expr(ty, &format!("{before}loop {{ # # }}"), vec![Node::list(items), value]),
            None => Node::expr(ty, &format!("{before}loop {{ # }}"), vec![Node::list(items)]),
        }
    }

    /// Returns a match with an exit in an arm.
    fn tried(&mut self, ty: &Ty, depth: usize) -> Node {
        let option = self.expr(&Ty::Opt(Box::new(ty.clone())), depth - 1);
        let start = self.flow();
        let exit = self.bare_exit();
        self.resume(&start);
        let template =
            self.rng.word(&["match # { Some(v) => v, None => # }", "match # { None => # Some(v) => { v } }"]);
        let option = Node::other("(#)", vec![option]);
        Node::expr(ty, template, vec![option, exit])
    }
}

/// Returns the operand of a `break`: an operand with its own label needs parentheses.
pub(super) fn bare(value: Node) -> Node {
    match value.text().starts_with('\'') {
        true => Node::other("(#)", vec![value]),
        false => value,
    }
}

/// The matched value.
pub(super) enum Scrutinee {
    /// A value of a type.
    Of(Ty),
    /// A slice of items, perhaps of a variable.
    Slice(Ty, Option<usize>),
}
