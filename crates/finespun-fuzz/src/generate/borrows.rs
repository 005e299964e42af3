//! Generates statements that make references and closures.

use super::Gen;
use super::places::Use;
use super::scope::{Closure, Var};
use crate::tree::Node;
use crate::types::Ty;

impl Gen {
    /// Returns a local that borrows.
    pub(super) fn borrow(&mut self) -> Node {
        let good = |ty: &Ty| {
            matches!(ty, Ty::D | Ty::Owner | Ty::Held | Ty::Duo | Ty::Parts | Ty::List(_) | Ty::Num | Ty::Opt(_))
        };
        let name = self.name();
        match self.rng.weighted(&[8, 6, 6, 5, 3, 3]) {
            0 => {
                let Some(place) = self.place(Use::Read, good) else { return self.extended(&name) };
                self.declare(&name, Ty::Ref(Box::new(place.ty)), place.var, false);
                Node::item(&format!("let {name} = &{};", place.text), vec![])
            }
            1 => {
                let Some(place) = self.place(Use::Change, good) else { return self.extended(&name) };
                self.declare(&name, Ty::Mut(Box::new(place.ty)), place.var, true);
                Node::item(&format!("let {name} = &mut {};", place.text), vec![])
            }
            2 => self.extended(&name),
            // The reference is stored by a later assignment.
            3 => {
                let Some(place) = self.place(Use::Read, good) else { return self.extended(&name) };
                let owner = self.vars[place.var].name.clone();
                if owner == name {
                    return self.extended("v0");
                }
                if self.rng.percent(50) {
                    self.declare(&name, Ty::Ref(Box::new(place.ty.clone())), place.var, false);
                    let items = self.items(1, 0);
                    let fits = self.visible(place.var) && self.vars.last().is_some_and(|var| var.name == name);
                    if !fits || self.dead || !items.is_empty() {
                        let first = format!("let {name} = &{}; #", place.text);
                        return Node::item(&first, vec![Node::list(items)]);
                    }
                    return Node::item(&format!("let {name}; # {name} = &{};", place.text), vec![Node::list(items)]);
                }
                let other = self.fresh(&place.ty);
                let first = format!("other{}", self.fresh_number());
                self.declare(&name, Ty::Ref(Box::new(place.ty.clone())), place.var, false);
                if let Some(var) = self.vars.last_mut() {
                    var.mutable = true;
                }
                if self.may_await() {
                    let template = format!(
                        "let {first} = #; let mut {name} = &{first}; if leaf(n).await > 1 {{ {name} = &{}; }}",
                        place.text
                    );
                    return Node::item(&template, vec![other]);
                }
                let template = format!("let {first} = #; let mut {name} = &{first}; {name} = &{};", place.text);
                Node::item(&template, vec![other])
            }
            // The last use of a reference ends the loan.
            4 => {
                let refs: Vec<usize> = (0..self.vars.len()).filter(|&at| !self.vars[at].borrows.is_empty()).collect();
                if refs.is_empty() {
                    return self.extended(&name);
                }
                let at = *self.rng.pick(&refs);
                if !self.visible(at) || self.vars[at].state.uninit || !self.vars[at].state.moved.is_empty() {
                    return self.extended(&name);
                }
                let text = self.vars[at].name.clone();
                if self.vars[at].closure.is_some() || self.vars[at].shared + self.vars[at].exclusive > 0 {
                    return self.extended(&name);
                }
                self.mark_moved(at, "");
                self.unborrow(at);
                match matches!(self.vars[at].ty, Ty::Ref(_) | Ty::Mut(_)) {
                    true => Node::item(&format!("see({text});"), vec![]),
                    false => Node::item(&format!("eat({text});"), vec![]),
                }
            }
            // A reborrow.
            _ => {
                let place = self.place(Use::Read, |ty| matches!(ty, Ty::Ref(_) | Ty::Mut(_)));
                let Some(place) = place.filter(|p| p.part.is_empty()) else { return self.extended(&name) };
                match place.ty {
                    Ty::Mut(inner) if self.vars[place.var].shared == 0 => {
                        self.declare(&name, Ty::Mut(inner), place.var, true);
                        Node::item(&format!("let {name} = &mut *{};", place.text), vec![])
                    }
                    Ty::Ref(inner) | Ty::Mut(inner) => {
                        self.declare(&name, Ty::Ref(inner), place.var, false);
                        Node::item(&format!("let {name} = &*{};", place.text), vec![])
                    }
                    _ => unreachable!("a reference was asked for"),
                }
            }
        }
    }

    fn declare(&mut self, name: &str, ty: Ty, owner: usize, exclusive: bool) {
        self.vars.push(Var::new(name, ty, false));
        let var = self.vars.len() - 1;
        self.lend(owner, exclusive, var);
    }

    /// Returns a reference to a temporary that lives as long as the local.
    fn extended(&mut self, name: &str) -> Node {
        let ty = self.rng.pick(&[Ty::D, Ty::D, Ty::Parts, Ty::Owner, Ty::List(Box::new(Ty::D))]).clone();
        let value = self.expr(&ty, 1);
        match self.rng.below(5) {
            0 => {
                self.vars.push(Var::new(name, Ty::Mut(Box::new(ty)), false));
                Node::item(&format!("let {name} = &mut #;"), vec![value])
            }
            1 if ty == Ty::D => {
                self.vars.push(Var::new(name, Ty::Ref(Box::new(Ty::Num)), false));
                Node::item(&format!("let D({name}, _) = &#;"), vec![value])
            }
            2 => {
                self.vars.push(Var::new(name, Ty::Ref(Box::new(ty)), false));
                Node::item(&format!("let ref {name} = #;"), vec![value])
            }
            3 => {
                self.vars.push(Var::new(name, Ty::Pair(Box::new(Ty::Ref(Box::new(ty))), Box::new(Ty::Num)), false));
                Node::item(&format!("let {name} = (&#, 3u64);"), vec![value])
            }
            _ => {
                self.vars.push(Var::new(name, Ty::Ref(Box::new(ty)), false));
                Node::item(&format!("let {name} = &#;"), vec![value])
            }
        }
    }

    /// Returns a closure: by reference, by move, or `FnOnce`.
    pub(super) fn closure(&mut self) -> Node {
        let name = format!("f{}", self.fresh_number());
        let mut var = Var::new(&name, Ty::Num, false);
        match self.rng.below(5) {
            0 => {
                let value = self.place(Use::Read, |ty| *ty == Ty::Num).filter(|p| p.part.is_empty() && p.text != "n");
                let Some(place) = value else { return self.logged_closure(&name) };
                var.closure = Some(Closure::Fn);
                self.vars.push(var);
                let at = self.vars.len() - 1;
                self.lend(place.var, false, at);
                Node::item(&format!("let {name} = |x: u64| (x + {}) % 83;", place.text), vec![])
            }
            1 => {
                let place = self.place(Use::Read, |ty| *ty == Ty::D).filter(|p| !p.text.contains('*'));
                let Some(place) = place else { return self.logged_closure(&name) };
                var.closure = Some(Closure::Fn);
                self.vars.push(var);
                let at = self.vars.len() - 1;
                self.lend(place.var, false, at);
                Node::item(&format!("let {name} = |x: u64| see(&{}) + x;", place.text), vec![])
            }
            2 => {
                let place = self.place(Use::Move, |ty| matches!(ty, Ty::D | Ty::Duo | Ty::Owner | Ty::Opt(_)));
                let Some(place) = place.filter(|p| p.part.is_empty()) else { return self.logged_closure(&name) };
                self.take(&place);
                var.ty = place.ty.clone();
                var.closure = Some(Closure::Once);
                self.vars.push(var);
                let form = self.rng.word(&["move ||", "||"]);
                Node::item(&format!("let {name} = {form} {{ t.log(\"in {name}\"); {} }};", place.text), vec![])
            }
            3 => {
                let place = self.place(Use::Assign, |ty| *ty == Ty::Num);
                let Some(place) = place.filter(|p| !self.vars[p.var].state.uninit && !p.text.contains('*')) else {
                    return self.logged_closure(&name);
                };
                if !self.vars[place.var].state.moved.is_empty() {
                    return self.logged_closure(&name);
                }
                self.lend_here(place.var, true);
                let value = self.number(1);
                if self.may_await() {
                    // Held across an await.
                    let text = format!(
                        "let mut {name} = |x: u64| {{ {} += x % 10; }}; {name}(1); {name}(rest(#).await);",
                        place.text
                    );
                    return Node::item(&text, vec![value]);
                }
                Node::item(
                    &format!("let mut {name} = |x: u64| {{ {} += x % 10; }}; {name}(1); {name}(#);", place.text),
                    vec![value],
                )
            }
            _ if self.rng.percent(50) => {
                // A parameter that is destructured.
                let ty = self.droppable(1);
                let (pat, bound) = self.pattern(&ty, true, &super::From::Value, 2);
                let first = self.expr(&ty, 1);
                let read = self.scoped(|g| {
                    g.vars.extend(bound);
                    g.quietly(|g| g.small_number())
                });
                let template = format!("let {name} = |#: {}| {{ t.log(#) }}; {name}(#);", ty.text());
                Node::item(&template, vec![pat, read, first])
            }
            _ => self.logged_closure(&name),
        }
    }

    fn logged_closure(&mut self, name: &str) -> Node {
        let mut var = Var::new(name, Ty::Num, false);
        var.closure = Some(Closure::Fn);
        self.vars.push(var);
        let text = self.rng.word(&["|x: u64| { t.log(x); x + 1 }", "move |x: u64| x ^ n", "|x: u64| t.d(x).0"]);
        Node::item(&format!("let {name} = {text};"), vec![])
    }
}
