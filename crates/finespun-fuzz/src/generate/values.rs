//! Generates expressions of values with destructors.

use super::Gen;
use super::places::Use;
use super::scope::Closure;
use crate::tree::Node;
use crate::types::Ty;

impl Gen {
    /// Returns an expression of a type.
    pub(super) fn expr(&mut self, ty: &Ty, depth: usize) -> Node {
        match ty {
            Ty::Num => return self.number(depth),
            Ty::Bool => return self.condition(depth.min(2)),
            Ty::Unit => return Node::expr(ty, "()", vec![]),
            Ty::Text => return self.string(depth),
            Ty::Free => return self.free(),
            _ => {}
        }
        if depth == 0 {
            return self.simple(ty);
        }
        let next = depth - 1;
        match self.rng.weighted(&[18, 22, 16, 16, 12, 3, 3, 4]) {
            0 => self.moved(ty).unwrap_or_else(|| self.simple(ty)),
            1 if self.may_await() => {
                let template = self.rng.word(&[
                    "leaf(#).await",
                    "leaf(#).await",
                    "rest(#).await",
                    "rest(#).await",
                    "now(#).await",
                    "call(t, #).await",
                    "leaf((#, 7u64)).await.0",
                    "{ rest(#).await }",
                ]);
                let value = self.expr(ty, next);
                Node::expr(ty, template, vec![value])
            }
            1 | 2 => self.composed(ty, next),
            3 => self.moved(ty).unwrap_or_else(|| self.composed(ty, next)),
            4 => self.controlled(ty, depth),
            5 => self.replaced(ty, next).unwrap_or_else(|| self.composed(ty, next)),
            6 => self.out_of(ty, next),
            _ => self.out_of_closure(ty).unwrap_or_else(|| self.composed(ty, next)),
        }
    }

    /// Returns a value moved out of a place.
    pub(super) fn moved(&mut self, ty: &Ty) -> Option<Node> {
        let place = self.place(Use::Move, |other| other == ty)?;
        self.take(&place);
        Some(Node::expr(ty, &place.text, vec![]))
    }

    /// Returns a value without awaits.
    fn simple(&mut self, ty: &Ty) -> Node {
        if self.rng.percent(40)
            && let Some(node) = self.moved(ty)
        {
            return node;
        }
        match ty {
            Ty::Ref(_) | Ty::Mut(_) => self.fresh(ty),
            _ if self.rng.percent(60) => self.fresh(ty),
            _ => self.quietly(|g| g.composed(ty, 0)),
        }
    }

    /// Returns a value made of parts.
    fn composed(&mut self, ty: &Ty, depth: usize) -> Node {
        match ty {
            Ty::D => {
                if depth > 0 && self.rng.percent(15) && self.may_await() {
                    let value = self.number(depth);
                    let template =
                        self.rng.word(&["t.d(leaf(#).await)", "maybe(t, #).await.unwrap_or_else(|| t.d(50))"]);
                    return Node::expr(ty, template, vec![value]);
                }
                let value = self.number(depth);
                Node::expr(ty, self.rng.word(&["t.d(#)", "t.d(#)", "D(#, t)", "{ t.d(#) }"]), vec![value])
            }
            Ty::Owner => {
                let value = self.number(depth);
                Node::expr(
                    ty,
                    self.rng.word(&["t.owner(#)", "(Owner { k: #, t })", "(Owner { t: t, k: # })"]),
                    vec![value],
                )
            }
            Ty::Held => {
                let d = self.expr(&Ty::D, depth);
                let k = self.number(depth);
                Node::expr(ty, "(Held { inner: #, k: # })", vec![d, k])
            }
            Ty::Section => match self.may_await() {
                true => {
                    let value = self.number(depth);
                    Node::expr(ty, "enter(t, #).await", vec![value])
                }
                false => self.fresh(ty),
            },
            Ty::Duo => {
                let (a, b) = (self.expr(&Ty::D, depth), self.expr(&Ty::D, depth));
                Node::expr(ty, "Duo(#, #)", vec![a, b])
            }
            Ty::Parts => {
                let y = self.expr(&Ty::D, depth);
                if self.rng.percent(25) {
                    let base = self.fresh(ty);
                    return Node::expr(ty, "(Parts { y: #, ..# })", vec![y, base]);
                }
                let (x, k) = (self.expr(&Ty::D, depth), self.number(depth));
                Node::expr(ty, "(Parts { y: #, x: #, k: # })", vec![y, x, k])
            }
            Ty::Point => {
                let (a, b) = (self.number(depth), self.number(depth));
                Node::expr(ty, "(Point { b: #, a: # })", vec![a, b])
            }
            Ty::Shape => match self.rng.below(4) {
                0 => Node::expr(ty, "Shape::Empty", vec![]),
                1 => {
                    let value = self.number(depth);
                    Node::expr(ty, "t.shape(#)", vec![value])
                }
                2 => {
                    let d = self.expr(&Ty::D, depth);
                    Node::expr(ty, "Shape::One(#)", vec![d])
                }
                _ => {
                    let (k, d) = (self.number(depth), self.expr(&Ty::D, depth));
                    Node::expr(ty, "(Shape::Both { k: #, d: # })", vec![k, d])
                }
            },
            Ty::Pair(a, b) => {
                if depth > 0 && self.rng.percent(25) && self.may_await() {
                    let mut branch = |ty: &Ty| match self.rng.percent(60) {
                        true => self.moved(ty).unwrap_or_else(|| self.fresh(ty)),
                        false => self.fresh(ty),
                    };
                    let (first, second) = (branch(a), branch(b));
                    let template = self.rng.word(&[
                        "join!(leaf(#), rest(#))",
                        "join!(rest(#), leaf(#))",
                        "join!(now(#), leaf(#))",
                    ]);
                    return Node::expr(ty, template, vec![first, second]);
                }
                let (first, second) = (self.expr(a, depth), self.expr(b, depth));
                Node::expr(ty, "(#, #)", vec![first, second])
            }
            Ty::Opt(a) => {
                if **a == Ty::D && self.rng.percent(30) {
                    let value = self.number(depth);
                    let template = if self.may_await() { "maybe(t, #).await" } else { "t.pick(#)" };
                    return Node::expr(ty, template, vec![value]);
                }
                if self.rng.percent(20) {
                    return Node::expr(ty, &format!("None::<{}>", a.text()), vec![]);
                }
                let value = self.expr(a, depth);
                Node::expr(ty, "Some(#)", vec![value])
            }
            Ty::Res(a, b) => {
                let tried = match (&**a, &**b) {
                    (Ty::D, Ty::D) => Some(("try_d(t, #).await", "t.attempt(#)")),
                    (Ty::Num, Ty::D) => Some(("checked(t, #).await", "t.checked(#)")),
                    _ => None,
                };
                if let Some((awaited, plain)) = tried
                    && self.rng.percent(50)
                {
                    let value = self.number(depth);
                    let template = if self.may_await() { awaited } else { plain };
                    return Node::expr(ty, template, vec![value]);
                }
                let types = format!("::<{}, {}>", a.text(), b.text());
                if self.rng.percent(25) {
                    let value = self.expr(b, depth);
                    return Node::expr(ty, &format!("Err{types}(#)"), vec![value]);
                }
                let value = self.expr(a, depth);
                Node::expr(ty, &format!("Ok{types}(#)"), vec![value])
            }
            Ty::List(a) => match self.rng.below(4) {
                0 if **a == Ty::D => {
                    let value = self.number(depth);
                    Node::expr(ty, "t.list(#)", vec![value])
                }
                1 => {
                    let (x, y) = (self.pinning(|g| g.expr(a, 1)), self.pinning(|g| g.expr(a, 1)));
                    Node::expr(ty, "vec![#, #]", vec![x, y])
                }
                2 => {
                    let (x, y) = (self.expr(a, depth), self.expr(a, depth));
                    Node::expr(ty, "Vec::from([#, #])", vec![x, y])
                }
                _ => {
                    let x = self.pinning(|g| g.expr(a, 1));
                    Node::expr(ty, "vec![#]", vec![x])
                }
            },
            Ty::Boxed(a) => {
                let value = self.expr(a, depth);
                Node::expr(ty, "Box::new(#)", vec![value])
            }
            Ty::Two(a) => {
                let (x, y) = (self.expr(a, depth), self.expr(a, depth));
                Node::expr(ty, "[#, #]", vec![x, y])
            }
            _ => self.fresh(ty),
        }
    }

    /// Returns a value that is replaced by another one in its place.
    fn replaced(&mut self, ty: &Ty, depth: usize) -> Option<Node> {
        let place = self.place(Use::Change, |other| other == ty)?;
        if matches!(ty, Ty::Opt(_)) && self.rng.percent(60) {
            return Some(Node::expr(ty, &format!("{}.take()", place.text), vec![]));
        }
        self.lend_here(place.var, true);
        let value = if self.may_borrow() { self.expr(ty, depth) } else { self.quietly(|g| g.expr(ty, depth)) };
        Some(Node::expr(ty, &format!("std::mem::replace(&mut {}, #)", place.text), vec![value]))
    }

    /// Returns a value out of a larger one.
    fn out_of(&mut self, ty: &Ty, depth: usize) -> Node {
        let inner = Box::new(ty.clone());
        match self.rng.below(7) {
            0 => {
                let pair = self.expr(&Ty::Pair(inner, Box::new(Ty::D)), depth);
                Node::expr(ty, "(#).0", vec![pair])
            }
            1 => {
                let option = self.expr(&Ty::Opt(inner), depth);
                let else_ = self.quietly(|g| g.fresh(ty));
                Node::expr(ty, "(#).unwrap_or(#)", vec![option, else_])
            }
            2 if matches!(self.ret, Ty::Opt(_)) => {
                let option = self.expr(&Ty::Opt(inner), depth);
                Node::expr(ty, "(#)?", vec![option])
            }
            3 if matches!(&self.ret, Ty::Res(_, e) if **e == Ty::D) => {
                let result = self.expr(&Ty::Res(inner, Box::new(Ty::D)), depth);
                Node::expr(ty, "(#)?", vec![result])
            }
            4 => {
                let boxed = self.expr(&Ty::Boxed(inner), depth);
                Node::expr(ty, "*#", vec![boxed])
            }
            5 if *ty == Ty::D => {
                let template =
                    self.rng.word(&["t.list(#).remove(0)", "t.list(#).pop().unwrap()", "t.attempt(#).unwrap()"]);
                let value = self.number(depth);
                Node::expr(ty, template, vec![value])
            }
            _ => {
                let option = self.expr(&Ty::Opt(inner), depth);
                Node::expr(ty, "(#).unwrap()", vec![option])
            }
        }
    }

    /// Returns the value of a closure that is called once.
    fn out_of_closure(&mut self, ty: &Ty) -> Option<Node> {
        let at = (self.floor..self.vars.len()).find(|&at| {
            let var = &self.vars[at];
            var.closure == Some(Closure::Once) && var.ty == *ty && var.state.moved.is_empty() && self.visible(at)
        })?;
        self.mark_moved(at, "");
        let name = self.vars[at].name.clone();
        Some(Node::expr(ty, &format!("{name}()"), vec![]))
    }

    fn string(&mut self, depth: usize) -> Node {
        let ty = &Ty::Text;
        match self.rng.below(6) {
            0 => self.moved(ty).unwrap_or_else(|| self.fresh(ty)),
            1 if depth > 0 && self.may_await() => {
                let value = self.expr(ty, depth - 1);
                Node::expr(ty, self.rng.word(&["leaf(#).await", "rest(#).await"]), vec![value])
            }
            2 => {
                let value = self.pinning(|g| g.number(1));
                Node::expr(ty, "format!(\"<{}>\", #)", vec![value])
            }
            3 => match self.place(Use::Read, |ty| matches!(ty, Ty::D | Ty::Num | Ty::Opt(_))) {
                Some(place) if place.part.is_empty() && !place.text.contains('\u{1}') => {
                    Node::expr(ty, &format!("format!(\"{{{}:?}}\")", place.text), vec![])
                }
                Some(place) => Node::expr(ty, &format!("format!(\"{{:?}}\", {})", place.text), vec![]),
                None => self.fresh(ty),
            },
            4 if depth > 0 => {
                let a = self.expr(ty, depth - 1);
                let b = if self.may_borrow() { self.expr(ty, depth - 1) } else { self.fresh(ty) };
                Node::expr(ty, "(# + &#)", vec![a, b])
            }
            _ => {
                let value = self.number(depth.min(1));
                Node::expr(ty, "(#).to_string()", vec![value])
            }
        }
    }

    /// Returns a value of the type parameter: bodies can only move one, not make one.
    fn free(&mut self) -> Node {
        self.moved(&Ty::Free).unwrap_or_else(|| Node::expr(&Ty::Free, "unreachable!()", vec![]))
    }
}
