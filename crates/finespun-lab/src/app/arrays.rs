//! The applications of write-once arrays: densemm, hopfield.

use finespun::istructure::{Cache, Counts};
use finespun::{RunError, task};
use finespun_apps::Progress;
use finespun_object_apps::{densemm, hopfield};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::number;
use crate::failure::Failure;

/// The options that all these applications share: how a node reads elements of other nodes.
#[derive(Debug, clap::Args)]
pub(super) struct Reading {
    /// Read other nodes' elements by requests to objects, from write-once arrays, from such arrays with a cache, or
    /// with a cache that decides by itself whether it pays (--stats shows its decisions)
    #[arg(long, value_enum, default_value = "cached")]
    form: Form,
    /// Elements in a block of the cache, a power of two, 1 to 65536 [default: 8]
    #[arg(long, value_name = "B", value_parser = number(1..=65_536usize))]
    cache_block: Option<usize>,
    /// Blocks that each node keeps of an array, 1 to 1000000000 [default: all blocks]
    #[arg(long, value_name = "C", value_parser = number(1..=1_000_000_000usize))]
    cache_capacity: Option<usize>,
    /// Count local and remote reads, hits, and messages: this makes reads slower
    #[arg(long)]
    pub(super) count: bool,
}

/// The forms by name.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Form {
    Split,
    Istructure,
    Cached,
    Auto,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Split => "split",
            Form::Istructure => "istructure",
            Form::Cached => "cached",
            Form::Auto => "auto",
        }
    }
}

impl Reading {
    /// Checks that the options fit together.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let given = [("--cache-block", self.cache_block), ("--cache-capacity", self.cache_capacity)];
        if let Some((option, _)) = given.iter().find(|(_, value)| value.is_some() && self.form != Form::Cached) {
            return Err(Failure::Usage(format!(
                "{option} is for --form cached: --form {} {}",
                self.form.name(),
                if self.form == Form::Auto { "chooses by itself" } else { "has no cache" }
            )));
        }
        if self.count && self.form == Form::Split {
            return Err(Failure::Usage("--count is for write-once arrays: --form split has none".to_owned()));
        }
        match self.cache_block {
            Some(block) if !block.is_power_of_two() => {
                let near = block.next_power_of_two();
                Err(Failure::Usage(format!("--cache-block {block} is no power of two: try {} or {near}", near / 2)))
            }
            _ => Ok(()),
        }
    }

    /// Returns the form that the options select.
    pub(super) fn form(&self) -> densemm::Form {
        let block = self.cache_block.unwrap_or(8);
        match self.form {
            Form::Split => densemm::Form::Split,
            Form::Istructure => densemm::Form::Arrays(Cache::Off),
            Form::Auto => densemm::Form::Arrays(Cache::Auto),
            Form::Cached => {
                densemm::Form::Arrays(Cache::On { block, capacity: self.cache_capacity.unwrap_or(1_000_000_000) })
            }
        }
    }

    /// Returns the options by name.
    pub(super) fn parameters(&self) -> [(&'static str, Value); 4] {
        [
            ("form", self.form.name().into()),
            ("cache_block", self.cache_block.into()),
            ("cache_capacity", self.cache_capacity.into()),
            ("count", self.count.into()),
        ]
    }

    /// Adds the counts to the answer, if they were requested.
    pub(super) fn counted(&self, answer: Answer, counts: &[Counts]) -> Answer {
        if !self.count {
            return answer;
        }
        let mut all = Counts::default();
        counts.iter().for_each(|&counts| all += counts);
        answer.laid_out([
            ("local_reads", all.local.into()),
            ("remote_reads", all.remote.into()),
            ("hits", all.hits.into()),
            ("deferred_hits", all.deferred.into()),
            ("requests", all.requests.into()),
            ("forwards", all.forwards.into()),
        ])
    }
}

/// `densemm`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The matrices are spread over the nodes by rows, and each node computes its rows of the product, element by element (--nodes).
Every multiplication reads an element of the node's own rows, and one of the other matrix, which is elsewhere on all nodes but
one. The plain version is three nested loops. The time is that of writing the factors and of the multiplication.
Answer: sum, trace and sum of squares of the product, which are exact; and with --count what was read, on all nodes.

Example: finespun run densemm 128 --nodes 16 --form cached --cache-block 8 --count
Example: finespun run densemm 128 --nodes 16 --form split --overhead 5")]
pub struct Densemm {
    /// Rows and columns, 1 to 8192
    #[arg(value_name = "N", default_value = "128", value_parser = number(1..=8192usize))]
    n: usize,
    #[command(flatten)]
    reading: Reading,
}

impl Densemm {
    /// Returns the application, if its options fit together.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if they do not.
    pub fn open(self) -> Result<Densemm, Failure> {
        self.reading.check()?;
        Ok(self)
    }
}

/// The product, for the plain version or for the tasks.
enum Product {
    Plain(densemm::Sums),
    Matrices(densemm::Matrices),
}

#[task]
async fn make(n: usize, form: densemm::Form, counted: bool) -> Product {
    Product::Matrices(densemm::create(n, form, counted).await)
}

#[task]
async fn multiply(product: &Product) -> densemm::Sums {
    match product {
        Product::Matrices(matrices) => {
            densemm::multiply(matrices).await;
            densemm::Sums::default()
        }
        Product::Plain(sums) => *sums,
    }
}

#[task]
async fn tell(product: Product) -> (densemm::Sums, Vec<Counts>) {
    match product {
        Product::Matrices(matrices) => {
            let sums = densemm::sums(&matrices).await;
            let counts = densemm::counts(&matrices).await;
            densemm::free(matrices).await;
            (sums, counts)
        }
        Product::Plain(sums) => (sums, Vec::new()),
    }
}

impl App for Densemm {
    fn name(&self) -> &'static str {
        "densemm"
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = object([("n", self.n.into())]);
        parameters.extend(object(self.reading.parameters()));
        parameters
    }

    fn memory(&self) -> u64 {
        4 * 8 * (self.n * self.n) as u64
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let (n, form) = (self.n, self.reading.form());
        let empty = |_| Product::Plain(densemm::Sums::default());
        let product = executor.compute((), empty, |()| make(n, form, self.reading.count))?.value;
        let multiplied = executor.compute(&product, |_| densemm::plain(n), multiply)?;
        let found = match product {
            Product::Plain(_) => Product::Plain(multiplied.value),
            matrices => matrices,
        };
        let plain = |found| match found {
            Product::Plain(sums) => (sums, Vec::new()),
            Product::Matrices(_) => unreachable!("the plain version makes none"),
        };
        let (sums, counts) = executor.compute(found, plain, tell)?.value;
        Ok(multiplied.map(|_| {
            let answer = Answer::new([
                ("sum", sums.sum.into()),
                ("trace", sums.trace.into()),
                ("sum_of_squares", sums.squares.into()),
            ]);
            self.reading.counted(answer, &counts)
        }))
    }
}

/// `hopfield`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Patterns of 1 and -1 are drawn, and for each neuron the weights that tell how often it agrees with each other one. Then each pattern
is disturbed and recalled: sweeps look at all neurons until nothing changes. Each node has the weights of its neurons, and reads
the states of all (--nodes). --update sequential: one neuron after the other, each sees those before it changed; synchronous: all
at once. The plain version is three nested loops. The time is that of all: weights, recalls, sweeps.
Answer: how many patterns are recalled exactly, sweeps, changes, the sum of the patterns' energies, and the mean overlap of what is
recalled with what was learned; and with --count what was read, on all nodes.

Example: finespun run hopfield 1024 --patterns 64 --turned 128 --seed 2 --nodes 4
Example: finespun run hopfield 256 --patterns 1 --update synchronous --sweeps 2 --nodes 16 --count")]
pub struct Hopfield {
    /// Neurons, 1 to 16384
    #[arg(value_name = "N", default_value = "256", value_parser = number(1..=16_384usize))]
    neurons: usize,
    /// Patterns, 1 to 4096
    #[arg(long, value_name = "P", default_value = "16", value_parser = number(1..=4096usize))]
    patterns: usize,
    /// Sites that are drawn and turned before a pattern is recalled, 0 to 16384
    #[arg(long, value_name = "K", default_value = "32", value_parser = number(0..=16_384usize))]
    turned: usize,
    /// Seed of the random numbers, 0 to 4294967295
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = number(0..=u32::MAX))]
    seed: u32,
    /// Whether a neuron sees the earlier changes of the same sweep
    #[arg(long, value_enum, default_value = "sequential")]
    update: Update,
    /// Sweeps after which a pattern is given up, 1 to 1000000
    #[arg(long, value_name = "K", default_value = "1000", value_parser = number(1..=1_000_000u32))]
    sweeps: u32,
    #[command(flatten)]
    reading: Reading,
}

/// The orders by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Update {
    Sequential,
    Synchronous,
}

impl Hopfield {
    /// Returns the application, if its options fit together.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if they do not.
    pub fn open(self) -> Result<Hopfield, Failure> {
        self.reading.check()?;
        Ok(self)
    }

    fn problem(&self) -> hopfield::Problem {
        hopfield::Problem {
            neurons: self.neurons,
            patterns: self.patterns,
            seed: self.seed,
            turned: self.turned,
            update: match self.update {
                Update::Sequential => hopfield::Update::Sequential,
                Update::Synchronous => hopfield::Update::Synchronous,
            },
            sweeps: self.sweeps,
        }
    }
}

impl App for Hopfield {
    fn name(&self) -> &'static str {
        "hopfield"
    }

    fn parameters(&self) -> Map<String, Value> {
        let update = match self.update {
            Update::Sequential => "sequential",
            Update::Synchronous => "synchronous",
        };
        let mut parameters = object([
            ("neurons", self.neurons.into()),
            ("patterns", self.patterns.into()),
            ("turned", self.turned.into()),
            ("seed", self.seed.into()),
            ("update", update.into()),
            ("sweeps", self.sweeps.into()),
        ]);
        parameters.extend(object(self.reading.parameters()));
        parameters
    }

    fn memory(&self) -> u64 {
        let neurons = self.neurons as u64;
        4 * neurons * neurons + 2 * neurons * self.patterns as u64
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let (form, counted) = (self.reading.form(), self.reading.count);
        let plain = |problem: &hopfield::Problem| (hopfield::plain(problem), Vec::new());
        let recalled = executor.compute(&self.problem(), plain, |problem| hopfield::recall(problem, form, counted))?;
        Ok(recalled.map(|(found, counts)| {
            let answer = Answer::new([
                ("recalled", found.recalled.into()),
                ("sweeps", found.sweeps.into()),
                ("changes", found.changes.into()),
                ("energy", found.energy.into()),
                ("overlap", found.overlap.into()),
            ]);
            self.reading.counted(answer, &counts)
        }))
    }
}
