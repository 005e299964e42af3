//! Lattice protein folding.

use finespun::RunError;
use finespun_apps::Progress;
use finespun_apps::protein::{self, Lattice, Problem, Sequence};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Histogram, Timed, object};
use crate::failure::Failure;

/// `protein --lattice AxBxC [--sequence HPH...]`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A folding visits every site of the box once; foldings that a rotation or reflection turns into each other count as one. The
energy is minus the number of neighbouring H-H pairs that the chain does not bond. 3x3x3 has 103,346 foldings and takes
milliseconds; 3x3x4 has 84,731,192 and takes seconds; 4x4x4 is out of reach.
Answer: foldings, and with --sequence histogram: from energy to the number of foldings.

Example: finespun run protein --lattice 3x3x3 --sequence HPHHPPHHHHPHHHPPHHPPHPHHHPH --plot energies.svg")]
pub struct Protein {
    /// The box: AxBxC, or AxB for a square lattice; at most 64 sites
    #[arg(long, value_name = "AxBxC", allow_hyphen_values = true, value_parser = Lattice::parse)]
    lattice: Lattice,
    /// The chain: one letter H (hydrophobic) or P (polar) per site of the box
    #[arg(long, value_name = "HPH...", allow_hyphen_values = true, value_parser = Sequence::parse)]
    sequence: Option<Sequence>,
    /// By closures instead of tasks: the program of the continuation-passing-threads paper (Figure 12)
    #[arg(long)]
    closures: bool,
}

/// The foldings to find.
#[derive(Debug)]
pub struct Foldings {
    problem: Problem,
    closures: bool,
}

impl Protein {
    /// Combines the sequence with the box.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if the sequence does not have one letter per site.
    pub fn open(self) -> Result<Foldings, Failure> {
        let sequences = Vec::from_iter(self.sequence);
        match Problem::new(self.lattice, &sequences) {
            Ok(problem) => Ok(Foldings { problem, closures: self.closures }),
            Err(error) => Err(Failure::Usage(format!("--sequence and --lattice do not fit: {error}"))),
        }
    }
}

impl App for Foldings {
    fn name(&self) -> &'static str {
        "protein"
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = object([("lattice", self.problem.lattice().to_string().into())]);
        if let Some(sequence) = self.problem.sequences().first() {
            parameters.insert("sequence".to_owned(), sequence.to_string().into());
        }
        if self.closures {
            parameters.insert("closures".to_owned(), true.into());
        }
        parameters
    }

    fn histogram(&self) -> Result<(), String> {
        match self.problem.sequences() {
            [] => Err("foldings have energies only with a --sequence of H and P".to_owned()),
            _ => Ok(()),
        }
    }

    fn run(&self, executor: &Executor, progress: &Progress) -> Result<Timed<Answer>, RunError> {
        let data = (&self.problem, progress);
        let plain = |(problem, progress)| protein::plain(problem, progress);
        let found = match self.closures {
            false => executor.compute(data, plain, |(problem, progress)| protein::fold(problem, progress))?,
            true => executor.compute(data, plain, |(problem, progress)| protein::threads::fold(problem, progress))?,
        };
        Ok(found.map(|folding| {
            let mut answer = Answer::new([("foldings", folding.paths.into())]);
            answer.histogram = folding.histograms.into_iter().next().map(|bins| Histogram {
                of: "energy",
                count: "foldings",
                title: self.title(),
                bins,
            });
            answer
        }))
    }
}

impl Foldings {
    fn title(&self) -> String {
        let sequences: Vec<_> = self.problem.sequences().iter().map(ToString::to_string).collect();
        format!("{} in a {} box", sequences.join(", "), self.problem.lattice())
    }
}
