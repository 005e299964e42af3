//! The two data-flow analyses: the possible states of each local before an event, and whether code after the event may
//! read the local.

use super::event::{Event, Graph, Place, Use};

/// Has no value yet.
pub(crate) const EMPTY: u8 = 1;
/// Has its value.
pub(crate) const INTACT: u8 = 2;
/// Was used by value.
pub(crate) const TAKEN: u8 = 4;
/// May have been used by value.
pub(crate) const MAYBE: u8 = 8;
/// A field may have been moved out.
pub(crate) const PARTLY: u8 = 32;
/// Was used by value, unless its type has a destructor of its own.
pub(crate) const FIELDS: u8 = 16;

/// Returns, for each event and local, the union of the states that may hold when control reaches the event.
pub(crate) fn before(graph: &Graph, copied: &[bool]) -> Vec<Vec<u8>> {
    let vars = graph.kinds.len();
    let mut states = vec![vec![0u8; vars]; graph.events.len()];
    let mut work = vec![0];
    let mut seen = vec![false; graph.events.len()];
    seen[0] = true;
    while let Some(node) = work.pop() {
        let mut state = states[node].clone();
        if let Event::Use(var, how, _) = &graph.events[node] {
            let now = state[*var];
            state[*var] = match how {
                Use::Declare(false) => EMPTY,
                Use::Declare(true) | Use::Assign => INTACT,
                Use::Value | Use::Named | Use::Given => TAKEN,
                Use::Fields => FIELDS,
                // The local is named as a whole again, so it was not moved.
                Use::Borrow if now != EMPTY => INTACT,
                Use::TakePart(Some(field)) if copied[*field] => now,
                // A moved local has one field again.
                Use::AssignPart(_) if now & (TAKEN | FIELDS | MAYBE) != 0 => now | PARTLY,
                Use::Borrow | Use::Part(_) | Use::AssignPart(_) => now,
                Use::Maybe => MAYBE,
                Use::TakePart(_) => now | PARTLY,
            };
        }
        for &next in &graph.next[node] {
            let mut changed = !seen[next];
            seen[next] = true;
            for (to, from) in states[next].iter_mut().zip(&state) {
                changed |= *to | from != *to;
                *to |= from;
            }
            if changed {
                work.push(next);
            }
        }
    }
    states
}

/// The locals and fields that may be read after an event, before they get a new value.
#[derive(Clone, PartialEq)]
pub(crate) struct Alive {
    /// Locals that are read in whole or in part.
    pub(crate) any: Vec<bool>,
    /// Locals that are read as a whole.
    pub(crate) whole: Vec<bool>,
    /// Locals that are used for more than the assignment of a part.
    pub(crate) looked: Vec<bool>,
    /// Fields that are read.
    fields: Vec<bool>,
}

impl Alive {
    fn nothing(graph: &Graph) -> Alive {
        let vars = graph.kinds.len();
        let none = vec![false; vars];
        Alive { any: none.clone(), whole: none.clone(), looked: none, fields: vec![false; graph.fields.len()] }
    }

    fn join(&mut self, other: &Alive) {
        let join = |to: &mut Vec<bool>, from: &[bool]| to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
        join(&mut self.any, &other.any);
        join(&mut self.whole, &other.whole);
        join(&mut self.looked, &other.looked);
        join(&mut self.fields, &other.fields);
    }

    /// Steps back over a use of a local.
    fn before(&mut self, graph: &Graph, var: usize, how: Use) {
        if how == Use::Given {
            return;
        }
        let of_field = match how {
            Use::Part(field) | Use::TakePart(field) => field,
            Use::AssignPart(field) => Some(field),
            _ => None,
        };
        let part = matches!(how, Use::Part(_) | Use::TakePart(_) | Use::AssignPart(_));
        let looks = !matches!(how, Use::Declare(_) | Use::Assign | Use::AssignPart(_));
        // The assignment of a field needs the other fields.
        self.any[var] = looks || part;
        if !matches!(how, Use::AssignPart(_)) {
            self.looked[var] = looks;
        }
        if !part || matches!(how, Use::AssignPart(_)) {
            // A local with a new field may have lost that field before.
            self.whole[var] = looks;
        }
        for (field, (of, path)) in graph.fields.iter().enumerate() {
            let touched = match of_field {
                Some(f) => {
                    let touched = &graph.fields[f].1;
                    // A field includes the fields below it; reading below a field needs the field.
                    path.starts_with(touched.as_str()) || (looks && touched.starts_with(path.as_str()))
                }
                // The use of an unknown part says nothing about the known fields.
                None => !part,
            };
            if *of == var && touched {
                self.fields[field] = looks;
            }
        }
    }
}

/// Returns the live locals and fields at each event.
pub(crate) fn alive(graph: &Graph) -> Vec<Alive> {
    let count = graph.events.len();
    let mut previous = vec![Vec::new(); count];
    for (node, nexts) in graph.next.iter().enumerate() {
        nexts.iter().for_each(|&n| previous[n].push(node));
    }
    let mut alive = vec![Alive::nothing(graph); count];
    let mut work: Vec<usize> = (0..count).collect();
    while let Some(node) = work.pop() {
        let mut state = Alive::nothing(graph);
        graph.next[node].iter().for_each(|&next| state.join(&alive[next]));
        if let Event::Use(var, how, _) = &graph.events[node] {
            state.before(graph, *var, *how);
        }
        if state != alive[node] {
            alive[node] = state;
            work.extend(&previous[node]);
        }
    }
    alive
}

/// Returns the fields that are read again after they were used by value: their types are `Copy`.
pub(crate) fn copied_fields(graph: &Graph, alive: &[Alive]) -> Vec<bool> {
    let mut copied = vec![false; graph.fields.len()];
    for (node, event) in graph.events.iter().enumerate() {
        if let Event::Use(_, Use::TakePart(Some(field)), _) = event {
            copied[*field] |= graph.next[node].iter().any(|&n| alive[n].fields[*field]);
        }
    }
    copied
}

/// Returns the events that can be reached after the task leaves the stack at some await point.
pub(crate) fn resumable(graph: &Graph) -> Vec<bool> {
    let mut seen = vec![false; graph.events.len()];
    let mut work: Vec<usize> =
        (0..graph.events.len()).filter(|&n| matches!(&graph.events[n], Event::Place(Place::Point(_), _))).collect();
    while let Some(node) = work.pop() {
        for &next in &graph.next[node] {
            if !std::mem::replace(&mut seen[next], true) {
                work.push(next);
            }
        }
    }
    seen
}

/// Returns the locals that are named again after they were used by value: their types are `Copy`.
pub(crate) fn copies(graph: &Graph, alive: &[Alive]) -> Vec<usize> {
    let mut found = Vec::new();
    for (node, event) in graph.events.iter().enumerate() {
        if let Event::Use(var, Use::Value, _) = event
            && graph.next[node].iter().any(|&n| alive[n].any[*var])
        {
            found.push(*var);
        }
    }
    found
}
