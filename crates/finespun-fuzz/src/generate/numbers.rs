//! Generates expressions of numbers and conditions, with awaits anywhere.

use super::Gen;
use super::places::Use;
use super::scope::Closure;
use crate::tree::Node;
use crate::types::Ty;

/// Returns true for types that a leaf can read.
fn seen(ty: &Ty) -> bool {
    !matches!(ty, Ty::Ref(_) | Ty::Mut(_) | Ty::Unit)
}

impl Gen {
    /// Returns an expression of a number.
    pub(super) fn number(&mut self, depth: usize) -> Node {
        if depth == 0 {
            return self.small_number();
        }
        let next = depth - 1;
        let num = &Ty::Num;
        match self.rng.weighted(&[14, 16, 12, 8, 4, 5, 5, 8, 4, 4, 4, 3, 6, 3]) {
            0 => self.small_number(),
            1 => self.awaited_number(next),
            2 => {
                let left = self.number(next);
                let op = self.rng.word(&["+", "*", "^", "|", "+"]);
                let right = self.number(next);
                Node::expr(num, &format!("((# {op} #) % 97)"), vec![left, right])
            }
            3 => self.look(next),
            4 => {
                let (a, b) = (self.number(next), self.number(next));
                let index = self.number(next);
                Node::expr(num, "[#, #][# as usize % 2]", vec![a, b, index])
            }
            5 => {
                let (a, b) = (self.number(next), self.number(next));
                let template = self.rng.word(&[
                    "(Point { a: #, b: # }).a",
                    "(#, #).1",
                    "(Point { b: #, a: # }).seen()",
                    "u64::max(#, #)",
                    "((#).wrapping_mul(#) % 89)",
                ]);
                Node::expr(num, template, vec![a, b])
            }
            6 => self.temporary_number(next),
            7 => self.controlled(&Ty::Num, depth),
            8 => self.called(next).unwrap_or_else(|| self.small_number()),
            9 => self.changed(),
            10 => self.falling(next),
            11 => {
                let value = self.number(next);
                let template = self.rng.word(&[
                    "((!#) % 91)",
                    "(# as u8 as u64)",
                    "(|x: u64| x + 1)(#)",
                    "(format!(\"{}\", #).len() as u64)",
                    "t.some(#).unwrap_or(4)",
                    "{ # }",
                    "(#)",
                    "Some(#).map_or(2, |k| k + 1)",
                ]);
                Node::expr(num, template, vec![value])
            }
            12 => self.taken_part().unwrap_or_else(|| self.small_number()),
            _ => match self.place(Use::Read, |ty| matches!(ty, Ty::List(_) | Ty::Opt(_) | Ty::Text | Ty::Shape)) {
                Some(place) => {
                    let ask = match place.ty {
                        Ty::Opt(_) => "is_some() as u64".to_string(),
                        Ty::Shape => {
                            let pat = self.rng.word(&["Shape::One(_)", "Shape::Both { k: 2.., .. }"]);
                            return Self::matches(&place.text, pat);
                        }
                        _ => "len() as u64".to_string(),
                    };
                    Node::expr(num, &format!("({}.{ask})", place.text), vec![])
                }
                None => self.small_number(),
            },
        }
    }

    fn matches(place: &str, pat: &str) -> Node {
        Node::expr(&Ty::Num, &format!("(matches!({place}, {pat}) as u64)"), vec![])
    }

    /// Returns a literal, or a number in scope.
    pub(super) fn small_number(&mut self) -> Node {
        if self.rng.percent(65)
            && let Some(place) = self.place(Use::Read, |ty| *ty == Ty::Num)
        {
            return Node::expr(&Ty::Num, &place.text, vec![]);
        }
        let k = self.rng.below(9);
        let constants = if self.owned { 2 } else { 10 };
        let text = if self.rng.percent(constants) { "LOW".to_string() } else { format!("{k}u64") };
        Node::expr(&Ty::Num, &text, vec![])
    }

    fn awaited_number(&mut self, depth: usize) -> Node {
        if !self.may_await() {
            return self.small_number();
        }
        let num = &Ty::Num;
        if self.rng.percent(12) {
            return self.joined_number(depth);
        }
        let template = match self.rng.weighted(&[8, 5, 3, 3, 2, 2]) {
            0 => "leaf(#).await",
            1 => "rest(#).await",
            2 => "now(#).await",
            3 => "call(t, #).await",
            4 => {
                let tail = match &self.ret {
                    Ty::Res(_, e) if **e == Ty::D => "checked(t, #).await?",
                    Ty::Opt(_) => "leaf(t.some(#)).await?",
                    _ => "leaf(t.some(#)).await.unwrap_or_default()",
                };
                let value = self.number(depth);
                return Node::expr(num, tail, vec![value]);
            }
            _ => {
                let tail = self.rng.word(&[
                    "leaf((#, 3u64)).await.0",
                    "leaf(Some(#)).await.unwrap()",
                    "leaf(Point { a: #, b: 1 }).await.a",
                ]);
                let value = self.number(depth);
                return Node::expr(num, tail, vec![value]);
            }
        };
        let value = self.number(depth);
        Node::expr(num, template, vec![value])
    }

    fn joined_number(&mut self, depth: usize) -> Node {
        let (a, b) = (self.joined_argument(depth), self.joined_argument(depth));
        match self.rng.below(3) {
            0 => Node::expr(&Ty::Num, "join!(leaf(#), rest(#)).0", vec![a, b]),
            1 if self.may_borrow() => Node::expr(&Ty::Num, "join!(rest(#), leaf(t.d(#))).1.0", vec![a, b]),
            _ => {
                let c = self.joined_argument(0);
                Node::expr(&Ty::Num, "see(&[join!(leaf(#), now(#), rest(#)).2])", vec![a, b, c])
            }
        }
    }

    /// Returns an argument of a branch: no await, since the branches log in no fixed order, and no temporary with a
    /// destructor, since its lifetime is unspecified.
    fn joined_argument(&mut self, depth: usize) -> Node {
        let value = self.small_number();
        if depth == 0 || self.rng.percent(50) {
            return value;
        }
        let other = self.small_number();
        Node::expr(&Ty::Num, "((# + #) % 95)", vec![value, other])
    }

    /// Returns a call of a leaf or function that borrows a place.
    fn look(&mut self, depth: usize) -> Node {
        let num = &Ty::Num;
        if self.owned && self.rng.percent(75) {
            return self.small_number();
        }
        let Some(place) = self.place(Use::Read, seen) else { return self.awaited_number(depth) };
        let text = &place.text;
        let exclusive = self.rng.percent(25) && place.ty == Ty::D;
        if exclusive
            && !self.owned
            && let Some(place) = self.place(Use::Change, |ty| *ty == Ty::D)
        {
            return match self.may_await() {
                true => Node::expr(num, &format!("alter(&mut {}).await", place.text), vec![]),
                false => Node::expr(num, &format!("change(&mut {})", place.text), vec![]),
            };
        }
        if !self.may_borrow() || !self.may_await() {
            return Node::expr(num, &format!("see(&{text})"), vec![]);
        }
        let template = match self.rng.below(5) {
            0 if place.ty == Ty::D => format!("{text}.peek().await"),
            1 => format!("glance(&{text}).await"),
            2 => format!("leaf(&{text}).await.seen()"),
            _ => format!("look(&{text}).await"),
        };
        Node::expr(num, &template, vec![])
    }

    /// Returns a number out of a temporary with a destructor.
    fn temporary_number(&mut self, depth: usize) -> Node {
        let num = &Ty::Num;
        if !self.may_borrow() {
            return self.owned_number(depth);
        }
        let value = self.number(depth);
        if !self.may_await() {
            let template = self.rng.word(&["t.d(#).0", "see(&t.d(#))", "t.owner(#).k", "see(&t.parts(#).x)"]);
            return Node::expr(num, template, vec![value]);
        }
        let template = self.rng.word(&[
            "look(&t.d(#)).await",
            "t.d(#).peek().await",
            "t.d(#).spend().await",
            "leaf(t.d(#)).await.peek().await",
            "glance(&t.parts(#).x).await",
            "alter(&mut t.d(#)).await",
            "leaf(t.d(#)).await.0",
            "rest(t.duo(#)).await.1.0",
            "enter(t, #).await.0",
            "look(&leaf(t.d(#)).await).await",
            "look(&Some(t.owner(#))).await",
            "maybe(t, #).await.map_or(3, |d| d.0)",
            "leaf(t.owner(#).k).await",
            "see(&call(t, t.held(#)).await.inner)",
            "look(&[t.d(#), t.d(1)][..]).await",
        ]);
        Node::expr(num, template, vec![value])
    }

    /// Returns a number computed through values that are not borrowed.
    fn owned_number(&mut self, depth: usize) -> Node {
        let value = self.number(depth);
        let k = self.fresh_number();
        let template = match self.rng.below(6) {
            0 => format!("{{ let o{k} = t.d(#); o{k}.0 }}"),
            1 if self.may_await() => format!("{{ let o{k} = rest(t.d(#)).await; o{k}.0 }}"),
            2 if self.may_await() => format!("{{ let D(o{k}, _) = leaf(t.d(#)).await; o{k} }}"),
            3 if self.may_await() => "rest(t.some(#)).await.unwrap_or(6)".to_string(),
            4 => "(0..# % 4).map(|k| k * 2).sum::<u64>()".to_string(),
            _ => "(# / 2)".to_string(),
        };
        Node::expr(&Ty::Num, &template, vec![value])
    }

    /// Returns a call of a closure.
    fn called(&mut self, depth: usize) -> Option<Node> {
        let at = (0..self.vars.len()).find(|&at| {
            let var = &self.vars[at];
            var.closure == Some(Closure::Fn) && var.ty == Ty::Num && self.visible(at)
        })?;
        let name = self.vars[at].name.clone();
        let value = self.number(depth);
        Some(Node::expr(&Ty::Num, &format!("{name}(#)"), vec![value]))
    }

    /// Returns the number that a change of a value returns.
    fn changed(&mut self) -> Node {
        match self.place(Use::Change, |ty| matches!(ty, Ty::D | Ty::List(_))) {
            Some(place) if place.ty == Ty::D => match self.may_borrow() && self.may_await() {
                true => Node::expr(&Ty::Num, &format!("alter(&mut {}).await", place.text), vec![]),
                false => Node::expr(&Ty::Num, &format!("change(&mut {})", place.text), vec![]),
            },
            Some(place) => Node::expr(&Ty::Num, &format!("({}.pop().is_some() as u64)", place.text), vec![]),
            None => self.small_number(),
        }
    }

    /// Returns a number whose evaluation may panic.
    fn falling(&mut self, depth: usize) -> Node {
        let value = self.number(depth);
        if self.rng.percent(50) {
            let template = self.rng.word(&["((#) % 7)", "(# / 2)", "(9 / #)", "(# - 1)", "const { 3u64 } + #"]);
            return Node::expr(&Ty::Num, &format!("({template})"), vec![value]);
        }
        if self.may_await() {
            return Node::expr(&Ty::Num, "fall(t, #).await", vec![value]);
        }
        let template = self.rng.word(&["t.some(#).unwrap()", "[1u64, 2, 5][# as usize % 4]", "t.checked(#).unwrap()"]);
        Node::expr(&Ty::Num, template, vec![value])
    }

    /// Returns a condition.
    pub(super) fn condition(&mut self, depth: usize) -> Node {
        let ty = &Ty::Bool;
        if depth == 0 {
            if self.rng.percent(40)
                && let Some(place) = self.place(Use::Read, |ty| *ty == Ty::Bool)
            {
                return Node::expr(ty, &place.text, vec![]);
            }
            let value = self.small_number();
            let k = self.rng.below(4);
            return match self.rng.below(3) {
                0 => Node::expr(ty, "(n % 2 == 0)", vec![]),
                1 => Node::expr(ty, &format!("(n > {k})"), vec![]),
                _ => Node::expr(ty, &format!("(# != {k})"), vec![value]),
            };
        }
        let next = depth - 1;
        match self.rng.weighted(&[10, 6, 4, 4, 3, 4, 3]) {
            0 => {
                let value = self.number(next);
                Node::expr(ty, &format!("(# % 2 == {})", self.rng.below(2)), vec![value])
            }
            1 => {
                let (a, b) = (self.number(next), self.number(next));
                let op = self.rng.word(&["<=", "==", ">", "!="]);
                Node::expr(ty, &format!("((#) {op} #)"), vec![a, b])
            }
            2 => {
                let op = self.rng.word(&["&&", "||"]);
                let a = self.condition(next);
                // The second operand may not be evaluated: the values that it moves may have been moved.
                let before = self.flow();
                let b = self.condition(next);
                let after = self.flow();
                self.meet(&[before, after]);
                Node::expr(ty, &format!("(# {op} #)"), vec![a, b])
            }
            3 => {
                let value = self.condition(next);
                Node::expr(ty, self.rng.word(&["t.is(#)", "!(#)"]), vec![value])
            }
            4 => {
                let picked = match self.pinning(Gen::may_await) {
                    true => self.rng.word(&["maybe(t, n + 1).await", "rest(t.pick(n + 1)).await"]),
                    false => "t.pick(n + 1)",
                };
                let before = self.flow();
                let value = self.pinning(|g| g.number(next));
                let after = self.flow();
                self.meet(&[before, after]);
                Node::expr(ty, &format!("(matches!({picked}, Some(D(1..=3, _))) && # > 1)"), vec![value])
            }
            5 if self.may_await() => {
                let value = self.condition(next);
                Node::expr(ty, self.rng.word(&["leaf(#).await", "rest(#).await", "call(t, #).await"]), vec![value])
            }
            _ => {
                let value = self.number(next);
                Node::expr(ty, "(t.d(#).0 > 2)", vec![value])
            }
        }
    }
}
