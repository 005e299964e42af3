//! Smaller bodies that fail in the same way.
//!
//! Each round compiles many candidates at once, each with one edit; the next round also tries the successful edits
//! together, so the number of rounds depends little on the size of the body.

use std::time::{Duration, Instant};

use crate::body::{Body, Form, Layout};
use crate::failure::Failure;
use crate::normal::normal;
use crate::pipeline::{Outcome, Wrong};
use crate::tree::{Node, Part, Role};

/// How a body fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Symptom {
    /// A form is refused with this message, names replaced.
    Refused(Form, String),
    /// A form's trace differs.
    Differ(Form),
    /// The program crashes.
    Crash,
    /// The program does not end.
    Hang,
    /// Frames are left over.
    Frames,
}

impl Symptom {
    /// Returns the symptoms of a body that failed; none for a body that agrees.
    pub fn of(outcome: &Outcome) -> Vec<Symptom> {
        let refused = outcome.refused.iter().map(|(form, message)| Symptom::Refused(*form, normal(message)));
        let wrong = outcome.wrong.iter().map(|wrong| match wrong {
            Wrong::Differ { form, .. } => Symptom::Differ(Form::named(form).unwrap_or(Form::Auto)),
            Wrong::Crash(_) => Symptom::Crash,
            Wrong::Hang => Symptom::Hang,
            Wrong::Frames(_) => Symptom::Frames,
        });
        refused.chain(wrong).collect()
    }

    /// Returns the forms that are needed to reproduce the failure.
    fn forms(&self, body: &Body) -> Vec<Form> {
        match self {
            Symptom::Refused(form, _) | Symptom::Differ(form) => vec![*form],
            _ => body.forms.clone(),
        }
    }
}

/// A change that makes a body smaller.
#[derive(Clone, Debug, PartialEq)]
enum Edit {
    /// Leaves out an item of a list.
    Remove(Vec<usize>),
    /// Replaces an item by the items of an inner list.
    Unwrap(Vec<usize>, Vec<usize>),
    /// Replaces an expression by a simple one.
    Simplify(Vec<usize>),
    /// Replaces an expression by one inside it.
    Inner(Vec<usize>, Vec<usize>),
    /// Replaces a pattern by `_`.
    Wild(Vec<usize>),
    /// Leaves out a parameter.
    Parameter(usize),
    /// Replaces a parameter's pattern by a name.
    Name(usize),
    /// Lays the text out with one statement per line.
    Lines,
}

impl Edit {
    fn path(&self) -> Option<&[usize]> {
        match self {
            Edit::Remove(path)
            | Edit::Unwrap(path, _)
            | Edit::Simplify(path)
            | Edit::Inner(path, _)
            | Edit::Wild(path) => Some(path),
            Edit::Parameter(_) | Edit::Name(_) | Edit::Lines => None,
        }
    }

    fn collides(&self, other: &Edit) -> bool {
        match (self.path(), other.path()) {
            (Some(a), Some(b)) => a.starts_with(b) || b.starts_with(a),
            (None, None) => self.parameter() == other.parameter(),
            _ => false,
        }
    }

    fn parameter(&self) -> Option<usize> {
        match self {
            Edit::Parameter(at) | Edit::Name(at) => Some(*at),
            _ => None,
        }
    }

    fn apply(&self, body: &mut Body) {
        match self {
            Edit::Remove(path) => {
                let (index, list) = split(path);
                body.root.at_mut(list).parts.remove(index);
            }
            Edit::Unwrap(path, inner) => {
                let items = body.root.at(inner).parts.clone();
                let (index, list) = split(path);
                body.root.at_mut(list).parts.splice(index..=index, items);
            }
            Edit::Simplify(path) => {
                let node = body.root.at_mut(path);
                if let Role::Expr(ty) = &node.role {
                    let k = 5;
                    *node = Node::expr(&ty.clone(), &ty.fresh(k), vec![]);
                }
            }
            Edit::Inner(path, inner) => {
                let node = body.root.at(inner).clone();
                *body.root.at_mut(path) = node;
            }
            Edit::Wild(path) => *body.root.at_mut(path) = Node::other("_", vec![]),
            Edit::Parameter(at) => drop(body.params.remove(*at)),
            Edit::Name(at) => body.params[*at].pat = format!("_p{at}"),
            Edit::Lines => body.layout = Layout::Lines,
        }
    }
}

fn split(path: &[usize]) -> (usize, &[usize]) {
    let (last, list) = path.split_last().expect("an item stands in a list");
    (*last, list)
}

/// Returns the body after some edits, none of which collide.
fn edited(body: &Body, edits: &[Edit]) -> Body {
    let mut edits = edits.to_vec();
    // From the end, so that the paths of the other edits stay valid.
    edits.sort_by(|a, b| b.path().cmp(&a.path()).then(b.parameter().cmp(&a.parameter())));
    let mut body = body.clone();
    edits.iter().for_each(|edit| edit.apply(&mut body));
    body
}

/// Returns the edits of a body, the largest savings first.
fn edits(body: &Body) -> Vec<Edit> {
    let root = &body.root;
    let paths = root.paths();
    let mut edits: Vec<(usize, Edit)> = Vec::new();
    for path in &paths {
        let node = root.at(path);
        let length = node.text().len();
        let in_list = !path.is_empty() && root.at(&path[..path.len() - 1]).role == Role::List;
        let below = |wanted: &dyn Fn(&Role) -> bool| {
            let inner = paths.iter().filter(|p| p.len() > path.len() && p.starts_with(path));
            inner.filter(|p| wanted(&root.at(p).role)).cloned().collect::<Vec<_>>()
        };
        if in_list {
            edits.push((length, Edit::Remove(path.clone())));
            for list in below(&|role| *role == Role::List) {
                let saved = length.saturating_sub(root.at(&list).text().len());
                if !root.at(&list).parts.is_empty() {
                    edits.push((saved, Edit::Unwrap(path.clone(), list)));
                }
            }
        }
        match &node.role {
            Role::Expr(ty) => {
                let simple = ty.fresh(5).len();
                if length > simple && !ty.borrows() {
                    edits.push((length - simple, Edit::Simplify(path.clone())));
                }
                let same = below(&|role| matches!(role, Role::Expr(other) if other == ty));
                for inner in same.into_iter().take(6) {
                    let saved = length.saturating_sub(root.at(&inner).text().len());
                    edits.push((saved, Edit::Inner(path.clone(), inner)));
                }
            }
            Role::Pat if length > 1 => edits.push((length, Edit::Wild(path.clone()))),
            _ => {}
        }
    }
    edits.extend((0..body.params.len()).map(|at| (30, Edit::Parameter(at))));
    let named = |pat: &str| pat.chars().all(|c| c.is_alphanumeric() || c == '_') && pat != "_";
    let patterns = body.params.iter().enumerate().filter(|(_, param)| !named(&param.pat));
    edits.extend(patterns.map(|(at, _)| (20, Edit::Name(at))));
    if body.layout != Layout::Lines {
        edits.push((usize::MAX, Edit::Lines));
    }
    edits.sort_by_key(|(saved, _)| std::cmp::Reverse(*saved));
    edits.into_iter().map(|(_, edit)| edit).collect()
}

/// Returns the edits that do not collide, with earlier ones preferred.
fn together(edits: &[Edit]) -> Vec<Edit> {
    let mut chosen: Vec<Edit> = Vec::new();
    for edit in edits {
        if !chosen.iter().any(|other| other.collides(edit)) {
            chosen.push(edit.clone());
        }
    }
    chosen
}

/// A body that is being shrunk.
struct Job {
    body: Body,
    outcome: Outcome,
    symptom: Symptom,
    /// Edits that have worked individually on the current body.
    good: Vec<Edit>,
    /// The index in the list of edits where the next round begins.
    at: usize,
    done: bool,
}

/// The maximum number of compilation rounds.
const ROUNDS: usize = 24;
/// The approximate number of candidates of all bodies in one round.
const CANDIDATES: usize = 144;

/// A body that fails.
#[derive(Clone, Debug)]
pub struct Failing {
    /// The body.
    pub body: Body,
    /// Its outcome.
    pub outcome: Outcome,
    /// The failure that the shrinker preserves.
    pub symptom: Symptom,
}

/// Shrinks failing bodies, for `limit` at most; returns each with its last outcome. `outcomes` returns the outcomes of
/// a round's candidates.
///
/// # Errors
/// Returns the errors of `outcomes`.
pub fn shrink(
    mut outcomes: impl FnMut(&[Body]) -> Result<Vec<Outcome>, Failure>,
    failing: Vec<Failing>,
    limit: Duration,
) -> Result<Vec<Failing>, Failure> {
    let begin = Instant::now();
    let mut jobs: Vec<Job> = Vec::new();
    for Failing { mut body, outcome, symptom } in failing {
        body.forms = symptom.forms(&body);
        jobs.push(Job { body, outcome, symptom, good: Vec::new(), at: 0, done: false });
    }
    for _ in 0..ROUNDS {
        let open = jobs.iter().filter(|job| !job.done).count();
        if open == 0 || begin.elapsed() > limit {
            break;
        }
        let share = (CANDIDATES / open).clamp(8, 48);
        let mut tries: Vec<(usize, Vec<Edit>, Body)> = Vec::new();
        for (at, job) in jobs.iter_mut().enumerate().filter(|(_, job)| !job.done) {
            candidates(job, share).into_iter().for_each(|edits| {
                let body = edited(&job.body, &edits);
                tries.push((at, edits, body));
            });
        }
        let bodies: Vec<Body> = tries.iter().map(|(_, _, body)| body.clone()).collect();
        let outcomes = outcomes(&bodies)?;
        for (at, job) in jobs.iter_mut().enumerate().filter(|(_, job)| !job.done) {
            let mine = tries.iter().zip(&outcomes).filter(|((of, _, _), _)| *of == at);
            let worked: Vec<_> = mine.filter(|(_, outcome)| Symptom::of(outcome).contains(&job.symptom)).collect();
            let best = worked.iter().min_by_key(|((_, _, body), _)| body.block().len());
            let total = edits(&job.body).len();
            match best {
                Some(((_, chosen, body), outcome)) => {
                    // Edits of a smaller body have other paths: only edits that were tried on this body count.
                    let single = worked.iter().filter(|((_, edits, _), _)| edits.len() == 1);
                    let single: Vec<Edit> = single.map(|((_, edits, _), _)| edits[0].clone()).collect();
                    if chosen.len() == 1 && single.len() > 1 && job.good.is_empty() {
                        job.good = single;
                        job.outcome = (*outcome).clone();
                        continue;
                    }
                    job.body = body.clone();
                    job.outcome = (*outcome).clone();
                    (job.good, job.at) = (Vec::new(), 0);
                }
                None if job.good.is_empty() => {
                    job.at += share;
                    job.done = job.at >= total;
                }
                None => job.good.truncate(job.good.len() / 2),
            }
        }
    }
    Ok(jobs.into_iter().map(|job| Failing { body: job.body, outcome: job.outcome, symptom: job.symptom }).collect())
}

/// Returns the sets of edits that a round tries for a body.
fn candidates(job: &Job, share: usize) -> Vec<Vec<Edit>> {
    if !job.good.is_empty() {
        let all = together(&job.good);
        let mut tries = vec![all.clone()];
        // If they do not work together, one half may.
        let mut half = all.len() / 2;
        while half > 0 {
            tries.push(all[..half].to_vec());
            tries.push(all[half..].to_vec());
            half /= 2;
        }
        tries.push(vec![job.good[0].clone()]);
        return tries;
    }
    edits(&job.body).into_iter().skip(job.at).take(share).map(|edit| vec![edit]).collect()
}

/// Returns the number of removable parts of a tree, for tests.
pub fn size(node: &Node) -> usize {
    node.parts.iter().map(|part| if let Part::Node(child) = part { 1 + size(child) } else { 0 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn edits_make_smaller_bodies() {
        for index in 0..40 {
            let body = generate::body(7, index);
            for edit in edits(&body) {
                let smaller = edited(&body, std::slice::from_ref(&edit));
                let text = smaller.root.text().len() + 100 * smaller.params.len();
                let before = body.root.text().len() + 100 * body.params.len();
                let same = matches!(edit, Edit::Lines | Edit::Name(_) | Edit::Unwrap(..) | Edit::Inner(..));
                assert!(text < before || (same && text <= before), "{edit:?}");
            }
        }
    }

    #[test]
    fn shrinking_keeps_only_the_failing_part() {
        // Simulates a compiler that refuses every task that contains a `drop`.
        let refused = |body: &Body| {
            let mut outcome = Outcome::default();
            if body.block().contains("drop(") {
                outcome.refused.push((Form::Auto, "no `drop`".to_string()));
            }
            outcome
        };
        let bodies = (0..200).map(|index| generate::body(9, index));
        let failing = bodies.filter(|body| body.block().contains("drop(")).map(|body| {
            let outcome = refused(&body);
            let symptom = Symptom::of(&outcome).remove(0);
            Failing { body, outcome, symptom }
        });
        let failing: Vec<Failing> = failing.take(6).collect();
        assert_eq!(failing.len(), 6);
        let outcomes = |bodies: &[Body]| Ok(bodies.iter().map(refused).collect());
        let shrunk = shrink(outcomes, failing, Duration::from_secs(60)).expect("no pipeline, no failure");
        for Failing { body, .. } in shrunk {
            let text = body.block();
            assert!(text.contains("drop(") && text.len() < 120 && body.params.is_empty(), "{text}");
        }
    }

    #[test]
    fn edits_that_do_not_collide_are_combined() {
        for index in 0..40 {
            let body = generate::body(8, index);
            let all = together(&edits(&body));
            let smaller = edited(&body, &all);
            assert!(size(&smaller.root) < size(&body.root), "body {index}");
            for (at, edit) in all.iter().enumerate() {
                assert!(!all[..at].iter().any(|other| other.collides(edit)), "body {index}: {edit:?}");
            }
        }
    }
}
