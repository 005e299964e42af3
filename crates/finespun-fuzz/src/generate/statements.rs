//! Generates statements: bindings, assignments, calls.

use super::From;
use super::Gen;
use super::places::{Place, Use};
use super::scope::Var;
use crate::tree::Node;
use crate::types::Ty;

impl Gen {
    /// Returns up to `count` statements; fewer if control cannot reach their end.
    pub(super) fn items(&mut self, count: usize, depth: usize) -> Vec<Node> {
        let mut items = Vec::new();
        for _ in 0..count {
            if self.dead || self.statements == 0 {
                break;
            }
            self.statements -= 1;
            items.push(self.statement(depth));
        }
        items
    }

    fn statement(&mut self, depth: usize) -> Node {
        let temps = self.temps.len();
        let item = self.any_statement(depth);
        self.release(temps);
        item
    }

    fn any_statement(&mut self, depth: usize) -> Node {
        let simple = [22, 4, 4, 9, 5, 8, 7, 6, 3, 4, 3, 2, 4, 4];
        let compound = [9, 6, 7, 9, 3, 4, 3];
        let weights: Vec<u32> =
            if depth > 0 { simple.iter().chain(&compound).copied().collect() } else { simple.to_vec() };
        match self.rng.weighted(&weights) {
            0 => self.binding(depth),
            1 => self.deferred(depth),
            2 => self.let_else(depth),
            3 => self.assignment(),
            4 => self.compound_assignment(),
            5 => self.consumed(),
            6 => self.logged(),
            7 if !self.may_borrow() => self.stored(),
            8 if !self.may_borrow() => self.binding(depth),
            7 => self.borrow(),
            8 => self.closure(),
            9 => self.discarded(),
            10 => self.leaving(),
            11 if depth < 3 && !self.may_borrow() => self.logged(),
            11 => self.nested_item(),
            12 => self.unpacked().unwrap_or_else(|| self.binding(depth)),
            13 => match self.taken_part() {
                Some(value) => Node::item("t.log(#);", vec![value]),
                None => self.logged(),
            },
            14 => self.branch(depth),
            15 => self.match_statement(depth),
            16 => self.if_let(depth),
            17 => self.any_loop(depth),
            18 => self.inner_block(depth),
            19 => self.moved_and_renewed(depth),
            _ => self.labelled_statement(depth),
        }
    }

    /// Returns `let pattern = value;`.
    fn binding(&mut self, depth: usize) -> Node {
        let ty = self.any_type();
        let depth = depth.clamp(1, 2);
        if self.rng.percent(25)
            && let Some(place) =
                self.place(Use::Move, |other| !other.is_copy() && !other.borrows() && *other != Ty::Text)
        {
            // The pattern may take a part only, and leave the rest in place.
            let from = From::Place(place.var, place.part.clone());
            let (pat, bound) = self.pattern(&place.ty, true, &from, 2);
            self.vars.extend(bound);
            return Node::item("let # = #;", vec![pat, Node::other(&place.text, vec![])]);
        }
        let value = self.expr(&ty, depth);
        if self.rng.percent(55) {
            let (name, mutable) = (self.name(), self.rng.percent(45));
            let form = if mutable { "mut " } else { "" };
            let annotation = if self.rng.percent(25) { format!(": {}", ty.text()) } else { String::new() };
            self.vars.push(Var::new(&name, ty, mutable));
            return Node::item(&format!("let {form}{name}{annotation} = #;"), vec![value]);
        }
        let (pat, bound) = self.pattern(&ty, true, &From::Value, 2);
        self.vars.extend(bound);
        Node::item("let # = #;", vec![pat, value])
    }

    /// Returns a local that gets its value later.
    fn deferred(&mut self, depth: usize) -> Node {
        let (name, mutable) = (self.name(), self.rng.percent(30));
        let form = if mutable { "mut " } else { "" };
        let ty = if self.rng.percent(25) { Ty::Num } else { self.droppable(1) };
        let mut var = Var::new(&name, ty.clone(), mutable);
        var.state.uninit = true;
        match self.rng.below(5) {
            0 => {
                // Two locals at once.
                let other = self.name();
                if other == name {
                    self.vars.push(var);
                    return Node::item(&format!("let {form}{name}: {};", ty.text()), vec![]);
                }
                let (mut first, mut second) = (var, Var::new(&other, Ty::Num, false));
                first.ty = Ty::D;
                second.state.uninit = true;
                let at = self.vars.len();
                self.unready(first);
                self.unready(second);
                let value = self.expr(&Ty::D, 1);
                self.ready(at);
                let number = self.number(1);
                self.ready(at + 1);
                let list = vec![
                    Node::other(&format!("let ({form}{name}, {other});"), vec![]),
                    Node::other(&format!("{name} = #;"), vec![value]),
                    Node::other(&format!("{other} = #;"), vec![number]),
                ];
                Node::item("# # #", list)
            }
            1 if depth > 0 => {
                let at = self.vars.len();
                self.unready(var);
                let condition = self.condition(1);
                let (first, second) = (self.assigned_block(&ty, &name), self.assigned_block(&ty, &name));
                self.ready(at);
                Node::item(&format!("let {form}{name}; if # # else #"), vec![condition, first, second])
            }
            _ => {
                let annotation = if self.rng.percent(50) { format!(": {}", ty.text()) } else { String::new() };
                let index = self.vars.len();
                self.unready(var);
                let list = self.items(1, 0);
                // The name may refer to another variable by now.
                if !self.visible(index) || self.dead {
                    self.vars[index].exclusive = 0;
                    return Node::item(&format!("let {form}{name}: {}; #", ty.text()), vec![Node::list(list)]);
                }
                let temps = self.temps.len();
                let value = self.expr(&ty, 2);
                self.release(temps);
                self.ready(index);
                Node::item(&format!("let {form}{name}{annotation}; # {name} = #;"), vec![Node::list(list), value])
            }
        }
    }

    /// Declares a variable that only its own statement may assign.
    fn unready(&mut self, mut var: Var) {
        var.state.uninit = true;
        var.exclusive = 1;
        self.vars.push(var);
    }

    fn ready(&mut self, at: usize) {
        self.vars[at].exclusive = 0;
        self.vars[at].state.uninit = false;
    }

    /// Returns a task that is made here and awaited later.
    fn stored(&mut self) -> Node {
        let k = self.fresh_number();
        let ty = if self.rng.percent(30) { Ty::Num } else { self.droppable(1) };
        let value = self.expr(&ty, 1);
        if !self.may_await() {
            return Node::item("drop(#);", vec![value]);
        }
        let leaf = self.rng.word(&["leaf", "rest", "now"]);
        let between = self.quietly(|g| g.items(1, 0));
        if self.dead {
            return Node::item(&format!("drop({leaf}(#)); #"), vec![value, Node::list(between)]);
        }
        let name = self.name();
        self.vars.push(Var::new(&name, ty, false));
        Node::item(&format!("let made{k} = {leaf}(#); # let {name} = made{k}.await;"), vec![value, Node::list(between)])
    }

    fn assigned_block(&mut self, ty: &Ty, name: &str) -> Node {
        let before = self.flow();
        let node = self.scoped(|g| {
            let value = g.expr(ty, 1);
            Node::other(&format!("{{ {name} = #; }}"), vec![value])
        });
        let after = self.flow();
        self.meet(&[before, after]);
        node
    }

    fn let_else(&mut self, depth: usize) -> Node {
        let ty = match self.rng.below(4) {
            0 => Ty::Res(Box::new(Ty::D), Box::new(Ty::D)),
            1 => Ty::Shape,
            2 => Ty::Opt(Box::new(Ty::Num)),
            _ => Ty::Opt(Box::new(self.droppable(1))),
        };
        let value = self.expr(&ty, depth.clamp(1, 2));
        let start = self.flow();
        let exit = self.quietly_perhaps(|g| g.exit_block(0));
        self.resume(&start);
        let (pat, bound) = self.pattern(&ty, false, &From::Value, 2);
        self.vars.extend(bound);
        let template = if pat.text().contains('|') { "let (#) = (#) else #;" } else { "let # = (#) else #;" };
        Node::item(template, vec![pat, value, exit])
    }

    /// Generates mostly without awaits, for the `else` of a `let`.
    fn quietly_perhaps<R>(&mut self, run: impl FnOnce(&mut Gen) -> R) -> R {
        if self.owned || self.rng.percent(70) { self.quietly(run) } else { run(self) }
    }

    /// Returns `place = value;`.
    fn assignment(&mut self) -> Node {
        if self.rng.percent(15)
            && let Some((first, second)) = self.two_assignable()
        {
            let pair = Ty::Pair(Box::new(first.ty.clone()), Box::new(second.ty.clone()));
            let value = self.expr(&pair, 2);
            if self.rng.percent(25) {
                self.refill(&second);
                return Node::item(&format!("(_, {}) = #;", second.text), vec![value]);
            }
            self.refill(&first);
            self.refill(&second);
            return Node::item(&format!("({}, {}) = #;", first.text, second.text), vec![value]);
        }
        let Some(place) = self.place(Use::Assign, |ty| !ty.borrows() && *ty != Ty::Free) else {
            return self.binding(1);
        };
        let value = self.expr(&place.ty, 2);
        self.refill(&place);
        Node::item(&format!("{} = #;", place.text), vec![value])
    }

    fn two_assignable(&mut self) -> Option<(Place, Place)> {
        let good = |ty: &Ty| matches!(ty, Ty::D | Ty::Num | Ty::Owner);
        let (a, b) = (self.place(Use::Assign, good)?, self.place(Use::Assign, good)?);
        let mutable = |p: &Place| self.vars[p.var].mutable || p.text.starts_with("(*");
        (a.var != b.var && mutable(&a) && mutable(&b)).then_some((a, b))
    }

    fn compound_assignment(&mut self) -> Node {
        let Some(place) = self.place(Use::Assign, |ty| matches!(ty, Ty::Num | Ty::Text)) else {
            return self.binding(1);
        };
        let state = &self.vars[place.var].state;
        if state.uninit || !state.moved.is_empty() {
            return self.binding(1);
        }
        if place.ty == Ty::Text {
            self.lend_here(place.var, true);
            let value = if self.may_borrow() { self.expr(&Ty::Text, 1) } else { self.fresh(&Ty::Text) };
            return Node::item(&format!("{} += &#;", place.text), vec![value]);
        }
        if self.rng.percent(12) && self.may_await() {
            let k = self.fresh_number();
            let (index, value) = (self.number(1), self.number(1));
            let template = self.rng.word(&[
                "let mut xsK = [1u64, 2]; xsK[leaf(#).await as usize % 2] += #; t.log(xsK[0]);",
                "let mut xsK = vec![1u64, 2]; xsK[# as usize % 2] = leaf(#).await; t.log(xsK[0]);",
                "let mut xsK = (n, [4u64; 3]); xsK.1[# as usize % 3] ^= rest(#).await; t.log(xsK.1[1]);",
            ]);
            return Node::item(&template.replace('K', &k.to_string()), vec![index, value]);
        }
        // The place must stay unchanged: the value is evaluated first.
        self.lend_here(place.var, false);
        let value = self.number(2);
        let op = self.rng.word(&["+=", "^=", "|=", "+="]);
        Node::item(&format!("{} {op} # % 50;", place.text), vec![value])
    }

    /// Returns a call of a function or task that consumes a value.
    fn consumed(&mut self) -> Node {
        let place = self.place(Use::Move, |ty| !ty.is_copy());
        let (text, ty) = match place {
            Some(place) => {
                self.take(&place);
                (Node::expr(&place.ty, &place.text, vec![]), place.ty)
            }
            None => {
                let ty = self.droppable(1);
                (self.expr(&ty, 1), ty)
            }
        };
        let template = match self.rng.below(7) {
            0 => "drop(#);",
            1 => "eat(#);",
            2 if self.may_await() => "leaf(#).await;",
            3 if self.may_await() => "rest(#).await;",
            4 if self.may_await() => "let _ = leaf(#).await;",
            5 if self.may_await() => "eat(rest(#).await);",
            6 if ty == Ty::D && self.may_await() => "#.spend().await;",
            _ => "drop(#);",
        };
        Node::item(template, vec![text])
    }

    fn logged(&mut self) -> Node {
        match self.rng.below(5) {
            0 => {
                let value = self.number(2);
                Node::item("t.log(#);", vec![value])
            }
            1 => match self.place(Use::Read, |ty| !ty.borrows() && *ty != Ty::Free) {
                // An inline capture.
                Some(place) if place.part.is_empty() && !place.text.contains('\u{1}') => {
                    Node::item(&format!("t.log(format!(\"{{{}:?}}\"));", place.text), vec![])
                }
                Some(place) => Node::item(&format!("t.log(format_args!(\"{{:?}}\", {}));", place.text), vec![]),
                None => Node::item("t.log(\"here\");", vec![]),
            },
            2 => {
                let value = self.pinning(|g| g.number(1));
                let template = self.rng.word(&[
                    "assert!(# < 100_000, \"too large\");",
                    "assert_eq!(# / 100_000, 0);",
                    "assert_ne!(#, 77, \"n is {n}\");",
                    "debug_assert!(# < 90_000);",
                ]);
                Node::item(template, vec![value])
            }
            3 => {
                let value = self.condition(1);
                Node::item("if # { t.log(\"yes\") }", vec![value])
            }
            _ => {
                let value = self.number(1);
                Node::item("see(&#);", vec![value])
            }
        }
    }

    /// Returns a value that no local binds.
    fn discarded(&mut self) -> Node {
        let ty = self.droppable(1);
        let template = match self.rng.below(6) {
            0 => "_ = #;",
            1 => "let _ = #;",
            2 => "(#);",
            // A wildcard does not move the value.
            3 => {
                if let Some(place) = self.place(Use::Read, |ty| !ty.borrows()) {
                    let left = self.rng.word(&["let _", "_"]);
                    return Node::item(&format!("{left} = {};", place.text), vec![]);
                }
                "let _ = #;"
            }
            4 if self.may_await() => "leaf(#).await;",
            _ => "let _unused = #;",
        };
        let value = self.expr(&ty, 2);
        Node::item(template, vec![value])
    }

    /// Returns an item in the body.
    fn nested_item(&mut self) -> Node {
        let k = self.fresh_number();
        let (name, value) = (self.name(), self.number(1));
        self.vars.push(Var::new(&name, Ty::Num, false));
        let template = match self.rng.below(5) {
            0 => format!("const C{k}: u64 = {k}; let {name} = # + C{k};"),
            1 => format!("fn twice{k}(x: u64) -> u64 {{ let y = x; y * 2 }} let {name} = twice{k}(#);"),
            2 => format!("use std::mem::size_of as size{k}; let {name} = # + size{k}::<u64>() as u64;"),
            3 if self.may_borrow() => {
                format!("macro_rules! add{k} {{ ($a:expr) => {{ $a + {k} }}; }} let {name} = add{k}!(n) + #;")
            }
            _ => format!("struct W{k}(u64); let {name} = W{k}(#).0;"),
        };
        Node::item(&template, vec![value])
    }
}
