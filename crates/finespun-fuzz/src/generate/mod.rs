//! The generator of bodies: a seed and a number determine the body.
//!
//! It tracks types, moves and borrows closely enough that rustc accepts most bodies. Now and then it is too permissive,
//! and rustc rejects the body.
//!
//! - [`scope`]: the variables, their moves and loans, branches of control flow
//! - `places`: the places that can be read, moved, borrowed or assigned
//! - `patterns`: patterns of all forms, and their binders
//! - `numbers`, `values`: expressions of numbers and of values with destructors
//! - `parts`: closures, macros and assignments that take a part of a local
//! - `control`: expressions and blocks with branches inside
//! - `statements`, `branches`, `loops`, `borrows`: statements

mod borrows;
mod branches;
mod control;
mod loops;
mod numbers;
mod parts;
mod patterns;
mod places;
pub mod scope;
mod statements;
#[cfg(test)]
mod tests;
mod values;

use crate::body::{Body, Form, Layout, Param};
use crate::rng::Rng;
use crate::tree::Node;
use crate::types::Ty;
use patterns::From;
use scope::{Flow, Jump, Var};

/// The state of the generator inside a body.
pub struct Gen {
    rng: Rng,
    vars: Vec<Var>,
    jumps: Vec<Jump>,
    ret: Ty,
    /// The number of awaits that may still be generated.
    awaits: usize,
    /// The number of statements that may still be generated.
    statements: usize,
    /// Positive where awaits are forbidden.
    quiet: usize,
    unique: u64,
    /// Variables below this index must not be moved: a loop may move them again.
    floor: usize,
    /// Variables that are borrowed until the end of the statement, each mutably or not.
    temps: Vec<(usize, bool)>,
    /// The next statement is unreachable.
    dead: bool,
    /// Parameters are being generated: their names must differ.
    parameters: bool,
    /// Hardly any value is borrowed across an await, as the stack schema requires.
    owned: bool,
    /// Loans are ignored.
    loose: bool,
}

/// Returns body number `index` of a seed.
pub fn body(seed: u64, index: u64) -> Body {
    let mut rng = Rng::of(seed, index);
    let forms = forms(&mut rng);
    let layout = Layout::Random(rng.draw());
    let (awaits, statements) = (1 + rng.below(8), 5 + rng.below(21));
    let owned = rng.percent(65);
    let functions = rng.percent(if owned { 85 } else { 30 });
    let mut g = Gen {
        rng,
        vars: Vec::new(),
        jumps: Vec::new(),
        ret: Ty::Num,
        awaits,
        statements,
        quiet: 0,
        unique: 0,
        floor: 0,
        temps: Vec::new(),
        dead: false,
        parameters: true,
        owned,
        loose: false,
    };
    g.ret = g.result();
    g.vars.push(Var::new("n", Ty::Num, false));
    let params = g.params(&forms);
    g.parameters = false;
    let root = g.root();
    Body { index, params, ret: g.ret, root, functions, layout, forms }
}

/// Returns the forms of a body: the two functions always, and one or two others.
fn forms(rng: &mut Rng) -> Vec<Form> {
    let mut forms = vec![Form::Pinned, Form::Auto];
    for _ in 0..1 + rng.below(2) {
        let form = *rng.pick(&[Form::Generic, Form::Method, Form::Trait, Form::Object]);
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms
}

impl Gen {
    fn result(&mut self) -> Ty {
        let d = || Box::new(Ty::D);
        match self.rng.weighted(&[8, 3, 2, 1, 1, 2, 2, 3, 1]) {
            0 => Ty::Num,
            1 => Ty::D,
            2 => Ty::Pair(d(), Box::new(Ty::Num)),
            3 => Ty::Text,
            4 => Ty::Unit,
            5 => Ty::Opt(d()),
            6 => Ty::Res(d(), d()),
            7 => Ty::Res(Box::new(Ty::Num), d()),
            _ => Ty::List(d()),
        }
    }

    fn params(&mut self, forms: &[Form]) -> Vec<Param> {
        let mut types: Vec<Ty> = Vec::new();
        for _ in 0..self.rng.weighted(&[5, 4, 2, 1]) {
            let ty = match self.rng.below(8) {
                0 | 1 if self.owned => self.droppable(1),
                0 if !forms.contains(&Form::Object) => Ty::Ref(Box::new(Ty::D)),
                1 if !forms.contains(&Form::Object) => Ty::Mut(Box::new(Ty::D)),
                _ => self.droppable(1),
            };
            types.push(ty);
        }
        if forms.contains(&Form::Generic) {
            types.push(Ty::Free);
        }
        let mut params = Vec::new();
        for (at, ty) in types.into_iter().enumerate() {
            let argument = ty.fresh(900 + 10 * at as u64);
            let (pat, bound) = match self.rng.percent(45) {
                true => {
                    let (name, mutable) = (format!("p{at}"), self.rng.percent(40));
                    let form = if mutable { "mut " } else { "" };
                    (Node::other(&format!("{form}{name}"), vec![]), vec![Var::new(&name, ty.clone(), mutable)])
                }
                false => self.pattern(&ty, true, &From::Value, 2),
            };
            self.vars.extend(bound);
            params.push(Param { pat: pat.text(), ty, argument });
        }
        params
    }

    /// Returns the statements of the body and its value.
    fn root(&mut self) -> Node {
        let count = self.statements;
        let depth = 3;
        let mut items = self.items(count, depth);
        let ret = self.ret.clone();
        if self.dead {
            return Node::other("#", vec![Node::list(items)]);
        }
        let list = |items| Node::list(items);
        match self.rng.below(10) {
            0 | 1 => {
                let value = self.value_of_body(&ret);
                Node::other("# return #", vec![list(items), value])
            }
            2 => {
                let value = self.value_of_body(&ret);
                items.push(Node::item("return #;", vec![value]));
                Node::other("#", vec![list(items)])
            }
            _ => {
                let value = self.value_of_body(&ret);
                Node::other("# #", vec![list(items), value])
            }
        }
    }

    fn value_of_body(&mut self, ret: &Ty) -> Node {
        self.floor = 0;
        self.expr(ret, 3)
    }

    /// Returns a number that the body does not use elsewhere.
    fn fresh_number(&mut self) -> u64 {
        self.unique += 1;
        self.unique
    }

    /// Returns a value without operands.
    fn fresh(&mut self, ty: &Ty) -> Node {
        let k = self.fresh_number();
        Node::expr(ty, &ty.fresh(k * 3), vec![])
    }

    /// Returns a type with a destructor.
    fn droppable(&mut self, depth: usize) -> Ty {
        if depth == 0 {
            return self.rng.pick(&[Ty::D, Ty::D, Ty::D, Ty::Owner, Ty::Section, Ty::Held]).clone();
        }
        let boxed = |g: &mut Gen| Box::new(g.droppable(depth - 1));
        match self.rng.weighted(&[30, 8, 6, 6, 6, 8, 5, 14, 8, 4, 5, 4, 5]) {
            0 => Ty::D,
            1 => Ty::Owner,
            2 => Ty::Held,
            3 => Ty::Section,
            4 => Ty::Duo,
            5 => Ty::Parts,
            6 => Ty::Shape,
            7 => {
                let first = boxed(self);
                let second = if self.rng.percent(60) { boxed(self) } else { Box::new(Ty::Num) };
                if self.rng.percent(30) { Ty::Pair(second, first) } else { Ty::Pair(first, second) }
            }
            8 => Ty::Opt(boxed(self)),
            9 => Ty::Res(Box::new(Ty::D), Box::new(Ty::D)),
            10 => Ty::List(Box::new(Ty::D)),
            11 => Ty::Boxed(boxed(self)),
            _ => Ty::Two(Box::new(Ty::D)),
        }
    }

    /// Returns any type that a local may have.
    fn any_type(&mut self) -> Ty {
        match self.rng.weighted(&[55, 25, 3, 5, 5, 2]) {
            0 => self.droppable(2),
            1 => Ty::Num,
            2 => Ty::Bool,
            3 => Ty::Text,
            4 => Ty::Point,
            _ => Ty::Pair(Box::new(Ty::Num), Box::new(Ty::Num)),
        }
    }

    /// Takes an await from the budget, if an await is possible here.
    fn may_await(&mut self) -> bool {
        let may = self.quiet == 0 && self.awaits > 0;
        if may {
            self.awaits -= 1;
        }
        may
    }

    /// Returns true if a value may be borrowed across an await here.
    fn may_borrow(&mut self) -> bool {
        !self.owned || self.rng.percent(2)
    }

    /// Generates without awaits.
    fn quietly<R>(&mut self, run: impl FnOnce(&mut Gen) -> R) -> R {
        self.quiet += 1;
        let result = run(self);
        self.quiet -= 1;
        result
    }

    /// Generates a part in which an await would exclude the stack schema: in an owned body mostly without awaits.
    fn pinning<R>(&mut self, run: impl FnOnce(&mut Gen) -> R) -> R {
        if self.owned && self.rng.percent(85) { self.quietly(run) } else { run(self) }
    }

    fn flow(&self) -> Flow {
        Flow::of(&self.vars, self.dead)
    }
}
