//! The pipeline from bodies to outcomes: compile the plain forms, compile all forms, run and compare.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::body::{Body, Form};
use crate::cargo;
use crate::failure::Failure;
use crate::package::Package;
use crate::programs;

/// A way in which a body's forms differ from the plain form.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// A form's trace differs.
    Differ {
        /// The form.
        form: String,
        /// Workers and block-every-n.
        setting: String,
        /// The value of `n`.
        n: u64,
        /// The plain form's trace.
        plain: Vec<String>,
        /// The form's trace.
        other: Vec<String>,
    },
    /// The program crashed.
    Crash(String),
    /// The program did not end in time.
    Hang,
    /// Frames were left when the runtime was closed.
    Frames(String),
}

/// The outcome of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The error of the plain form: the body is not valid Rust.
    pub rejected: Option<String>,
    /// The forms that are refused, with the message.
    pub refused: Vec<(Form, String)>,
    /// The differences, at most one for each form.
    pub wrong: Vec<Wrong>,
}

impl Outcome {
    /// Returns true if the plain form is accepted, all other forms too, and all agree.
    pub fn agreed(&self) -> bool {
        self.rejected.is_none() && self.refused.is_empty() && self.wrong.is_empty()
    }
}

/// Compiles and runs bodies.
pub struct Pipeline {
    /// The scratch package.
    pub package: Package,
    /// The number of parallel processes.
    pub jobs: usize,
    /// The counters of the runtimes with two workers.
    pub counted: Mutex<BTreeMap<String, u64>>,
}

/// The maximum number of bodies in one program.
const CHUNK: usize = 24;

type Named<'a> = (String, &'a Body, Vec<Form>);

impl Pipeline {
    /// Returns the outcome of each body.
    ///
    /// # Errors
    /// If the scratch package cannot be written, or does not compile because of an error outside the bodies.
    pub fn outcomes(&self, bodies: &[Body]) -> Result<Vec<Outcome>, Failure> {
        self.package.clear()?;
        let mut outcomes = vec![Outcome::default(); bodies.len()];
        let all: Vec<usize> = (0..bodies.len()).collect();
        let accepted = self.check(bodies, &all, &mut outcomes)?;
        let built = self.build(bodies, &accepted, &mut outcomes)?;
        programs::run_all(self, &built, bodies.len(), &mut outcomes)?;
        Ok(outcomes)
    }

    /// Compiles the plain forms until rustc accepts the rest; returns the accepted ones.
    fn check(&self, bodies: &[Body], all: &[usize], outcomes: &mut [Outcome]) -> Result<Vec<usize>, Failure> {
        let mut left = all.to_vec();
        while !left.is_empty() {
            let size = left.len().div_ceil(self.jobs);
            self.package.clear()?;
            for (chunk, part) in left.chunks(size).enumerate() {
                let named: Vec<Named> = part.iter().map(|&i| (name(i), &bodies[i], Vec::new())).collect();
                self.package.program_of(chunk, &named, false)?;
            }
            let errors = by_body(cargo::compile(self.package.dir(), &self.package.target(), "check", self.jobs)?);
            if errors.is_empty() {
                break;
            }
            for ((index, _), message) in errors {
                outcomes[index].rejected.get_or_insert(message);
            }
            left.retain(|&i| outcomes[i].rejected.is_none());
        }
        Ok(left)
    }

    /// Compiles all forms, without the refused ones, until the rest compiles; returns the programs.
    fn build(&self, bodies: &[Body], accepted: &[usize], outcomes: &mut [Outcome]) -> Result<Vec<Vec<usize>>, Failure> {
        let size = CHUNK.min(accepted.len().div_ceil(self.jobs)).max(1);
        let chunks: Vec<Vec<usize>> = accepted.chunks(size).map(<[usize]>::to_vec).collect();
        for &index in accepted {
            outcomes[index].refused = crate::refusal::by_the_compiler(&bodies[index]);
        }
        self.package.clear()?;
        loop {
            for (chunk, part) in chunks.iter().enumerate() {
                let named = part.iter().map(|&i| {
                    let refused = &outcomes[i].refused;
                    let forms = bodies[i].forms.iter().filter(|form| !refused.iter().any(|(f, _)| f == *form));
                    (name(i), &bodies[i], forms.copied().collect())
                });
                self.package.program_of(chunk, &named.collect::<Vec<Named>>(), true)?;
            }
            if chunks.is_empty() {
                return Ok(chunks);
            }
            let errors = by_body(cargo::compile(self.package.dir(), &self.package.target(), "build", self.jobs)?);
            if errors.is_empty() {
                return Ok(chunks);
            }
            for ((index, form), message) in errors {
                match Form::named(&form) {
                    Some(form) => outcomes[index].refused.push((form, message)),
                    None => return Err(Failure::Compile(format!("the plain form of {}: {message}", name(index)))),
                }
            }
        }
    }
}

/// Returns the name of a body in the scratch package.
pub fn name(index: usize) -> String {
    format!("b{index}")
}

/// Returns the index of the body with this name.
pub fn index(name: &str) -> Option<usize> {
    name.strip_prefix('b')?.parse().ok()
}

fn by_body(errors: cargo::Errors) -> BTreeMap<(usize, String), String> {
    let entries = errors.into_iter().filter_map(|(file, message)| {
        let (body, form) = file.strip_suffix(".rs")?.split_once('/')?;
        Some(((index(body)?, form.to_string()), message))
    });
    entries.collect()
}
