//! Variables, and their states along the control flow.

use super::Gen;
use crate::types::Ty;

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// The name.
    pub name: String,
    /// The type; for a closure, the type of its result.
    pub ty: Ty,
    /// The variable is `mut`.
    pub mutable: bool,
    /// The state of its value.
    pub state: State,
    /// The number of its shared loans.
    pub shared: usize,
    /// The number of its mutable loans.
    pub exclusive: usize,
    /// The variables it borrows, each mutably or not.
    pub borrows: Vec<(usize, bool)>,
    /// For a closure: how it may be called.
    pub closure: Option<Closure>,
}

/// How a closure may be called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closure {
    /// Any number of times.
    Fn,
    /// Once.
    Once,
}

/// The state of a variable's value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The parts that may have been moved out, as text after the name; the empty text is the whole.
    pub moved: Vec<String>,
    /// Not initialised yet on any path.
    pub uninit: bool,
}

/// The states of all variables at one point of the control flow.
#[derive(Clone, Debug)]
pub struct Flow {
    states: Vec<State>,
    dead: bool,
}

/// A target of `break` or `continue`.
#[derive(Clone, Debug)]
pub struct Jump {
    /// The label.
    pub label: Option<String>,
    /// The target is a loop, not a block.
    pub is_loop: bool,
    /// The enclosing floor.
    pub floor: usize,
    /// The number of enclosing variables.
    pub vars: usize,
    /// The flow at each `break` out of the target.
    pub breaks: Vec<Flow>,
    /// The type of its value.
    pub value: Option<Ty>,
}

impl Var {
    /// Returns a variable that has a value.
    pub fn new(name: &str, ty: Ty, mutable: bool) -> Var {
        Var {
            name: name.to_string(),
            ty,
            mutable,
            state: State::default(),
            shared: 0,
            exclusive: 0,
            borrows: Vec::new(),
            closure: None,
        }
    }
}

impl Flow {
    /// Returns the states of variables.
    pub fn of(vars: &[Var], dead: bool) -> Flow {
        Flow { states: vars.iter().map(|var| var.state.clone()).collect(), dead }
    }

    /// Drops the states of inner scopes' variables.
    pub(super) fn truncate(&mut self, vars: usize) {
        self.states.truncate(vars);
    }
}

impl Gen {
    /// Begins a labelled block or a loop.
    pub(super) fn enter(&mut self, label: Option<String>, is_loop: bool, value: Option<Ty>) {
        let (floor, vars) = (self.floor, self.vars.len());
        self.jumps.push(Jump { label, is_loop, floor, vars, breaks: Vec::new(), value });
    }

    /// Ends the innermost labelled block or loop: control continues from its breaks, and from `end` if that is
    /// reachable.
    pub(super) fn leave(&mut self, end: Option<Flow>) {
        let mut flows = self.jumps.pop().map(|jump| jump.breaks).unwrap_or_default();
        flows.extend(end);
        self.meet(&flows);
    }

    /// Returns to an earlier point of the control flow.
    pub(super) fn resume(&mut self, flow: &Flow) {
        for (var, state) in self.vars.iter_mut().zip(&flow.states) {
            var.state = state.clone();
        }
        self.dead = flow.dead;
    }

    /// Continues where several paths meet.
    pub(super) fn meet(&mut self, flows: &[Flow]) {
        let live: Vec<&Flow> = flows.iter().filter(|flow| !flow.dead).collect();
        let Some((first, rest)) = live.split_first() else {
            self.dead = true;
            return;
        };
        self.resume(first);
        for flow in rest {
            for (var, state) in self.vars.iter_mut().zip(&flow.states) {
                let mut moved = var.state.moved.clone();
                moved.extend(state.moved.iter().filter(|part| !var.state.moved.contains(part)).cloned());
                if var.state.uninit != state.uninit {
                    moved.push(String::new());
                }
                var.state = State { moved, uninit: var.state.uninit && state.uninit };
            }
        }
    }

    /// Generates inside its own scope.
    pub(super) fn scoped<R>(&mut self, run: impl FnOnce(&mut Gen) -> R) -> R {
        let (vars, temps) = (self.vars.len(), self.temps.len());
        let result = run(self);
        self.release(temps);
        while self.vars.len() > vars {
            let last = self.vars.len() - 1;
            self.unborrow(last);
            self.vars.pop();
        }
        result
    }

    /// Ends the loans that `var` holds.
    pub(super) fn unborrow(&mut self, var: usize) {
        for (owner, exclusive) in std::mem::take(&mut self.vars[var].borrows) {
            self.give_back(owner, exclusive);
        }
    }

    fn give_back(&mut self, owner: usize, exclusive: bool) {
        let Some(owner) = self.vars.get_mut(owner) else { return };
        match exclusive {
            true => owner.exclusive = owner.exclusive.saturating_sub(1),
            false => owner.shared = owner.shared.saturating_sub(1),
        }
    }

    /// Lends a variable to another one.
    pub(super) fn lend(&mut self, owner: usize, exclusive: bool, to: usize) {
        self.count(owner, exclusive);
        self.vars[to].borrows.push((owner, exclusive));
    }

    /// Lends a variable until the end of the statement.
    pub(super) fn lend_here(&mut self, owner: usize, exclusive: bool) {
        self.count(owner, exclusive);
        self.temps.push((owner, exclusive));
    }

    pub(super) fn count(&mut self, owner: usize, exclusive: bool) {
        match exclusive {
            true => self.vars[owner].exclusive += 1,
            false => self.vars[owner].shared += 1,
        }
    }

    /// Ends the loans of a statement.
    pub(super) fn release(&mut self, from: usize) {
        while self.temps.len() > from {
            if let Some((owner, exclusive)) = self.temps.pop() {
                self.give_back(owner, exclusive);
            }
        }
    }

    /// Returns true if the name of a variable still refers to it.
    pub(super) fn visible(&self, var: usize) -> bool {
        self.vars[var + 1..].iter().all(|later| later.name != self.vars[var].name)
    }

    /// Returns a name; it may shadow another variable.
    pub(super) fn name(&mut self) -> String {
        const LOWER: [&str; 14] = ["a", "b", "c", "d", "e", "f", "g", "p", "q", "r", "x", "y", "z", "value"];
        const UPPER: [&str; 4] = ["N", "K", "Z", "ONE"];
        match self.rng.below(200) {
            // Rare: a name in capitals always makes the body pinned.
            0 if self.rng.percent(50) => self.rng.pick(&UPPER).to_string(),
            0..92 => self.rng.pick(&LOWER).to_string(),
            92..96 => "r\u{1}gen".to_string(),
            96..104 => {
                let k = self.fresh_number();
                format!("_u{k}")
            }
            _ => {
                let k = self.fresh_number();
                format!("v{k}")
            }
        }
    }

    /// Marks a part of a variable as moved.
    pub(super) fn mark_moved(&mut self, var: usize, part: &str) {
        let state = &mut self.vars[var].state;
        if !state.moved.iter().any(|moved| moved == part) {
            state.moved.push(part.to_string());
        }
    }
}
