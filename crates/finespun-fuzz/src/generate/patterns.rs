//! Generates patterns of all forms, with their binders.

use super::Gen;
use super::scope::Var;
use crate::tree::Node;
use crate::types::Ty;

/// The location of the matched value.
#[derive(Clone, Debug)]
pub(super) enum From {
    /// A value of its own: the parts that the pattern does not bind are dropped or stay a temporary.
    Value,
    /// A part of a variable.
    Place(usize, String),
    /// Behind a reference, which may be a variable's.
    Behind(Option<usize>, bool),
}

impl From {
    fn part(&self, field: &str) -> From {
        match self {
            From::Place(var, part) => From::Place(*var, format!("{part}{field}")),
            other => other.clone(),
        }
    }
}

impl Gen {
    /// Returns a pattern and the variables that it binds, which are not in scope yet.
    pub(super) fn pattern(&mut self, ty: &Ty, sure: bool, from: &From, depth: usize) -> (Node, Vec<Var>) {
        let mut bound = Vec::new();
        let pat = self.sub(ty, sure, from, depth, &mut bound);
        (pat, bound)
    }

    fn sub(&mut self, ty: &Ty, sure: bool, from: &From, depth: usize, bound: &mut Vec<Var>) -> Node {
        if depth > 0
            && self.rng.percent(if sure { 45 } else { 75 })
            && let Some(pat) = self.taken_apart(ty, sure, from, depth, bound)
        {
            return pat;
        }
        match self.rng.below(12) {
            0 | 1 => Node::other("_", vec![]),
            2 if self.may_borrow() => self.by_reference(ty, from, bound),
            3 if ty.is_copy() && depth > 0 && !matches!(from, From::Behind(..)) => {
                let name = self.bind(ty, from, bound);
                let mut none = Vec::new();
                let pat = self.sub(ty, sure, from, 0, &mut none);
                // A variable and its parts have different names.
                if none.iter().any(|var| bound.iter().any(|other| other.name == var.name)) {
                    return Node::pat(&name, vec![]);
                }
                bound.extend(none);
                if matches!(pat.text().as_str(), "_") || !pat.text().starts_with(|c: char| c.is_ascii_lowercase()) {
                    return Node::pat(&format!("{name} @ #"), vec![Node::other(&pat.text(), vec![])]);
                }
                bound.retain(|var| name.ends_with(&var.name));
                Node::pat(&name, vec![])
            }
            _ => {
                let text = self.bind(ty, from, bound);
                Node::pat(&text, vec![])
            }
        }
    }

    /// Binds a name by value; returns the binder's text.
    fn bind(&mut self, ty: &Ty, from: &From, bound: &mut Vec<Var>) -> String {
        let name = self.unbound(bound);
        let mutable = self.rng.percent(35) && !matches!(from, From::Behind(..));
        let var = match from {
            From::Value => Var::new(&name, ty.clone(), mutable),
            From::Place(owner, part) => {
                if !ty.is_copy() {
                    if !self.movable(*owner, part) {
                        return "_".to_string();
                    }
                    self.mark_moved(*owner, part);
                }
                Var::new(&name, ty.clone(), mutable)
            }
            From::Behind(owner, exclusive) => {
                let inner = Box::new(ty.clone());
                let mut var = Var::new(&name, if *exclusive { Ty::Mut(inner) } else { Ty::Ref(inner) }, false);
                self.borrow_for(&mut var, *owner, *exclusive);
                var
            }
        };
        bound.push(var);
        if mutable { format!("mut {name}") } else { name }
    }

    /// Binds a name by `ref` or `ref mut`.
    fn by_reference(&mut self, ty: &Ty, from: &From, bound: &mut Vec<Var>) -> Node {
        let exclusive = match from {
            From::Behind(..) => {
                let text = self.bind(ty, from, bound);
                return Node::pat(&text, vec![]);
            }
            From::Value => self.rng.percent(40),
            From::Place(owner, part) => {
                if !self.whole(*owner, part) || self.vars[*owner].exclusive > 0 {
                    return Node::other("_", vec![]);
                }
                self.vars[*owner].mutable && self.vars[*owner].shared == 0 && self.rng.percent(40)
            }
        };
        let name = self.unbound(bound);
        let inner = Box::new(ty.clone());
        let mut var = Var::new(&name, if exclusive { Ty::Mut(inner) } else { Ty::Ref(inner) }, false);
        if let From::Place(owner, _) = from {
            self.borrow_for(&mut var, Some(*owner), exclusive);
        }
        bound.push(var);
        let deeper = match ty {
            Ty::Pair(..) => *self.rng.pick(&["", " @ (_, _)", " @ (.., _)"]),
            Ty::D => *self.rng.pick(&["", "", " @ D(..)"]),
            Ty::Parts => *self.rng.pick(&["", " @ Parts { x: _, .. }"]),
            _ => "",
        };
        Node::pat(&format!("ref {}{name}{deeper}", if exclusive { "mut " } else { "" }), vec![])
    }

    fn borrow_for(&mut self, var: &mut Var, owner: Option<usize>, exclusive: bool) {
        if let Some(owner) = owner {
            self.count(owner, exclusive);
            var.borrows.push((owner, exclusive));
        }
    }

    fn movable(&self, var: usize, part: &str) -> bool {
        let v = &self.vars[var];
        self.whole(var, part) && v.shared == 0 && v.exclusive == 0 && var >= self.floor && !part.contains('*')
    }

    fn whole(&self, var: usize, part: &str) -> bool {
        let state = &self.vars[var].state;
        !state.uninit && !state.moved.iter().any(|moved| moved.starts_with(part) || part.starts_with(moved.as_str()))
    }

    /// Returns a name that the pattern does not bind yet.
    fn unbound(&mut self, bound: &[Var]) -> String {
        loop {
            let name = self.name();
            let taken = self.parameters && self.vars.iter().any(|var| var.name == name);
            if !taken && !bound.iter().any(|var| var.name == name) {
                return name;
            }
        }
    }

    /// Returns a pattern that matches parts of the value.
    fn taken_apart(&mut self, ty: &Ty, sure: bool, from: &From, depth: usize, bound: &mut Vec<Var>) -> Option<Node> {
        let inner = depth - 1;
        let pat = match ty {
            Ty::Pair(a, b) => match self.rng.below(6) {
                0 => Node::pat("(.., #)", vec![self.sub(b, sure, &from.part(".1"), inner, bound)]),
                1 => Node::pat("(#, ..)", vec![self.sub(a, sure, &from.part(".0"), inner, bound)]),
                _ => {
                    let first = self.sub(a, sure, &from.part(".0"), inner, bound);
                    let second = self.sub(b, sure, &from.part(".1"), inner, bound);
                    Node::pat("(#, #)", vec![first, second])
                }
            },
            Ty::Duo => {
                let first = self.sub(&Ty::D, sure, &from.part(".0"), inner, bound);
                if self.rng.percent(25) {
                    return Some(Node::pat("Duo(#, ..)", vec![first]));
                }
                let second = self.sub(&Ty::D, sure, &from.part(".1"), inner, bound);
                Node::pat("Duo(#, #)", vec![first, second])
            }
            Ty::Parts => {
                let second = self.sub(&Ty::D, sure, &from.part(".y"), inner, bound);
                if self.rng.percent(40) {
                    return Some(Node::pat("Parts { y: #, .. }", vec![second]));
                }
                let first = self.sub(&Ty::D, sure, &from.part(".x"), inner, bound);
                let k = self.sub(&Ty::Num, sure, &from.part(".k"), 0, bound);
                Node::pat("Parts { y: #, x: #, k: # }", vec![second, first, k])
            }
            // A value with a destructor is destructured by copying.
            Ty::D => Node::pat("D(#, _)", vec![self.number_pattern(sure, from, bound)]),
            Ty::Section => Node::pat("Section(#, _)", vec![self.number_pattern(sure, from, bound)]),
            Ty::Owner => {
                let k = self.number_pattern(sure, from, bound);
                let rest = self.rng.word(&["..", "t: _"]);
                Node::pat(&format!("Owner {{ k: #, {rest} }}"), vec![k])
            }
            Ty::Held => {
                let k = self.number_pattern(sure, from, bound);
                match self.rng.below(3) {
                    0 => Node::pat("Held { k: #, .. }", vec![k]),
                    1 => {
                        let j = self.number_pattern(sure, from, bound);
                        Node::pat("Held { k: #, inner: D(#, _) }", vec![k, j])
                    }
                    _ if !self.may_borrow() => Node::pat("Held { inner: _, k: # }", vec![k]),
                    _ => {
                        let d = self.by_reference(&Ty::D, &from.part(".inner"), bound);
                        Node::pat("Held { k: #, inner: # }", vec![k, d])
                    }
                }
            }
            Ty::Point => {
                let a = self.number_pattern(sure, from, bound);
                let b = self.number_pattern(sure, from, bound);
                Node::pat("Point { a: #, b: # }", vec![a, b])
            }
            Ty::Two(a) => match self.rng.below(5) {
                4 if !matches!(from, From::Place(..)) => {
                    let rest = format!("_r{}", self.fresh_number());
                    Node::pat(&format!("[#, {rest} @ ..]"), vec![self.sub(a, sure, from, inner, bound)])
                }
                // A move of a part counts as a move of the whole array.
                0 => Node::pat("[#, ..]", vec![self.sub(a, sure, from, inner, bound)]),
                1 => Node::pat("[.., #]", vec![self.sub(a, sure, from, inner, bound)]),
                _ => {
                    let first = self.sub(a, sure, from, inner, bound);
                    let second = self.sub(a, sure, from, inner, bound);
                    Node::pat("[#, #]", vec![first, second])
                }
            },
            Ty::Ref(a) if a.is_copy() => {
                let pat = self.sub(a, sure, &From::Value, 0, bound);
                let text = pat.text();
                match text.starts_with("mut ") || text.starts_with("ref ") {
                    true => Node::pat("&(#)", vec![pat]),
                    false => Node::pat("&#", vec![pat]),
                }
            }
            Ty::Ref(a) if **a == Ty::D => {
                let k = self.bind(&Ty::Num, &From::Value, bound);
                Node::other(&format!("&D({k}, _)"), vec![])
            }
            Ty::Res(a, b) if a == b && self.rng.percent(50) => {
                let text = self.bind(a, from, bound);
                return Some(Node::other(&format!("(Ok({text}) | Err({text}))"), vec![]));
            }
            _ if sure => return None,
            Ty::Opt(a) => match self.rng.below(5) {
                0 => Node::other("None", vec![]),
                _ => Node::pat("Some(#)", vec![self.sub(a, sure, from, inner, bound)]),
            },
            Ty::Res(a, b) => match self.rng.below(3) {
                0 => Node::pat("Err(#)", vec![self.sub(b, sure, from, inner, bound)]),
                _ => Node::pat("Ok(#)", vec![self.sub(a, sure, from, inner, bound)]),
            },
            Ty::Shape => match self.rng.below(6) {
                5 => {
                    let d = self.bind(&Ty::D, from, bound);
                    Node::other(&format!("Shape::One({d}) | Shape::Both {{ d: {d}, .. }}"), vec![])
                }
                0 => Node::other("Shape::Empty", vec![]),
                1 => Node::other("Shape::One(_) | Shape::Empty", vec![]),
                2 => Node::pat("Shape::One(#)", vec![self.sub(&Ty::D, sure, from, inner, bound)]),
                3 => {
                    let k = self.number_pattern(sure, from, bound);
                    Node::pat("Shape::Both { k: #, .. }", vec![k])
                }
                _ => {
                    let d = self.sub(&Ty::D, sure, from, inner, bound);
                    let k = self.number_pattern(sure, from, bound);
                    Node::pat("Shape::Both { d: #, k: # }", vec![d, k])
                }
            },
            Ty::Num if matches!(from, From::Behind(..)) => {
                let text = self.rng.word(&["0", "1", "0 | 2", "1..=3", "..2", "5.."]);
                Node::other(text, vec![])
            }
            Ty::Num if self.rng.percent(25) => {
                let name = self.bind(ty, from, bound);
                let text = self.rng.word(&["0", "(0 | 2)", "1..=3", "LOW", "HIGH.."]);
                Node::pat(&format!("{name} @ {text}"), vec![])
            }
            Ty::Num => {
                let text =
                    self.rng.word(&["0", "1", "LOW", "0 | 2", "1..=3", "LOW..=HIGH", "..2", "5..", "HIGH | 7 | 0"]);
                Node::other(text, vec![])
            }
            Ty::Bool => Node::other(self.rng.word(&["true", "false"]), vec![]),
            _ => return None,
        };
        Some(pat)
    }

    /// Returns a pattern of a number in a value that has a destructor: bound by copy.
    fn number_pattern(&mut self, sure: bool, from: &From, bound: &mut Vec<Var>) -> Node {
        match self.rng.below(if sure { 6 } else { 9 }) {
            0 => Node::other("_", vec![]),
            6 => Node::other("1..=4", vec![]),
            7 => {
                let name = self.unbound(bound);
                if matches!(from, From::Behind(..)) {
                    return Node::other("_", vec![]);
                }
                bound.push(Var::new(&name, Ty::Num, false));
                Node::other(&format!("{name} @ (LOW | 2 | 5..)"), vec![])
            }
            _ => {
                let text = self.bind(&Ty::Num, from, bound);
                Node::pat(&text, vec![])
            }
        }
    }

    /// Returns a pattern of a sequence behind a reference, and its binders.
    pub(super) fn slice(&mut self, item: &Ty, owner: Option<usize>) -> (Node, Vec<Var>) {
        let from = From::Behind(owner, false);
        let mut bound = Vec::new();
        let pat = match self.rng.below(5) {
            0 => Node::other("[]", vec![]),
            1 => Node::pat("[#, ..]", vec![self.sub(item, false, &from, 1, &mut bound)]),
            2 => {
                let first = self.sub(item, false, &from, 1, &mut bound);
                let last = self.sub(item, false, &from, 1, &mut bound);
                Node::pat("[#, .., #]", vec![first, last])
            }
            3 if self.rng.percent(50) => {
                let rest = format!("_r{}", self.fresh_number());
                Node::pat(&format!("[#, {rest} @ ..]"), vec![self.sub(item, false, &from, 1, &mut bound)])
            }
            3 => {
                let first = self.sub(item, false, &from, 0, &mut bound);
                let second = self.sub(item, false, &from, 0, &mut bound);
                Node::pat("[#, #]", vec![first, second])
            }
            _ => {
                let first = self.sub(item, false, &from, 0, &mut bound);
                Node::pat("[_, .., #]", vec![first])
            }
        };
        (pat, bound)
    }
}
