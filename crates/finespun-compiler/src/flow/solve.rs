//! The two data-flow analyses: what may have happened to each local before an
//! event, and whether it may be looked at after.

use super::graph::{Event, Graph, Use};

/// Has no value yet.
pub(crate) const EMPTY: u8 = 1;
/// Has its value.
pub(crate) const INTACT: u8 = 2;
/// Was used by value.
pub(crate) const TAKEN: u8 = 4;
/// May have been used by value.
pub(crate) const MAYBE: u8 = 8;
/// A field of it may have been moved.
pub(crate) const PARTLY: u8 = 32;
/// Was used by value, unless its type has a destructor of its own.
pub(crate) const FIELDS: u8 = 16;

/// Per event, per local: the union of what may hold when control comes there.
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
                Use::Value | Use::Named => TAKEN,
                Use::Fields => FIELDS,
                // It is named as a whole again, so it had not been moved.
                Use::Borrow if now != EMPTY => INTACT,
                Use::TakePart(Some(field)) if copied[*field] => now,
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

/// Per event, per local, and behind the locals per field: may it be looked at from here on, before it gets a new value?
pub(crate) fn alive(graph: &Graph) -> Vec<Vec<bool>> {
    let vars = graph.kinds.len();
    let count = graph.events.len();
    let mut previous = vec![Vec::new(); count];
    for (node, nexts) in graph.next.iter().enumerate() {
        nexts.iter().for_each(|&n| previous[n].push(node));
    }
    let mut alive = vec![vec![false; vars + graph.fields.len()]; count];
    let mut work: Vec<usize> = (0..count).collect();
    while let Some(node) = work.pop() {
        let mut state = vec![false; vars + graph.fields.len()];
        for &next in &graph.next[node] {
            for (to, from) in state.iter_mut().zip(&alive[next]) {
                *to |= from;
            }
        }
        if let Event::Use(var, how, _) = &graph.events[node] {
            let of_field = match how {
                Use::Part(field) | Use::TakePart(field) => *field,
                Use::AssignPart(field) => Some(*field),
                _ => None,
            };
            let looks = !matches!(how, Use::Declare(_) | Use::Assign | Use::AssignPart(_));
            // To assign a field, one needs the others.
            state[*var] = looks || of_field.is_some();
            for (field, (of, path)) in graph.fields.iter().enumerate() {
                let touched = of_field.is_none_or(|f| {
                    let touched = &graph.fields[f].1;
                    // What is below a field goes with it; to look below it needs it.
                    path.starts_with(touched.as_str()) || (looks && touched.starts_with(path.as_str()))
                });
                if of == var && touched {
                    state[vars + field] = looks;
                }
            }
        }
        if state != alive[node] {
            alive[node] = state;
            work.extend(&previous[node]);
        }
    }
    alive
}

/// The fields that are looked at again after they were used by value: their types are `Copy`.
pub(crate) fn copied_fields(graph: &Graph, alive: &[Vec<bool>]) -> Vec<bool> {
    let mut copied = vec![false; graph.fields.len()];
    for (node, event) in graph.events.iter().enumerate() {
        if let Event::Use(_, Use::TakePart(Some(field)), _) = event {
            copied[*field] |= graph.next[node].iter().any(|&n| alive[n][graph.kinds.len() + field]);
        }
    }
    copied
}

/// The events that can be reached after leaving the stack at some point.
pub(crate) fn resumable(graph: &Graph) -> Vec<bool> {
    let mut seen = vec![false; graph.events.len()];
    let mut work: Vec<usize> = (0..graph.events.len())
        .filter(|&n| matches!(&graph.events[n], Event::Place(super::graph::Place::Point(_), _)))
        .collect();
    while let Some(node) = work.pop() {
        for &next in &graph.next[node] {
            if !std::mem::replace(&mut seen[next], true) {
                work.push(next);
            }
        }
    }
    seen
}

/// The locals that are named again after they were used by value: their types
/// are `Copy`.
pub(crate) fn copies(graph: &Graph, alive: &[Vec<bool>]) -> Vec<usize> {
    let mut found = Vec::new();
    for (node, event) in graph.events.iter().enumerate() {
        if let Event::Use(var, Use::Value, _) = event
            && graph.next[node].iter().any(|&n| alive[n][*var])
        {
            found.push(*var);
        }
    }
    found
}
