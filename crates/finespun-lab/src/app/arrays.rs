//! The applications of write-once arrays: densemm.

use finespun::istructure::{Cache, Counts};
use finespun::{RunError, task};
use finespun_apps::Progress;
use finespun_object_apps::densemm;
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::number;
use crate::failure::Failure;

/// How elements of other nodes are read: the options that all these applications have.
#[derive(Debug, clap::Args)]
struct Reading {
    /// Read other nodes' elements by requests to objects, from write-once arrays, or from such arrays with a cache
    #[arg(long, value_enum, default_value = "cached")]
    form: Form,
    /// Elements in a block of the cache, a power of two, 1 to 65536 [default: 8]
    #[arg(long, value_name = "B", value_parser = number(1..=65_536usize))]
    cache_block: Option<usize>,
    /// Blocks that each node keeps of an array, 1 to 1000000000 [default: as many as there are]
    #[arg(long, value_name = "C", value_parser = number(1..=1_000_000_000usize))]
    cache_capacity: Option<usize>,
    /// Count local and remote reads, hits, and messages: this makes reads slower
    #[arg(long)]
    count: bool,
}

/// The forms by name.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Form {
    Split,
    Istructure,
    Cached,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Split => "split",
            Form::Istructure => "istructure",
            Form::Cached => "cached",
        }
    }
}

impl Reading {
    fn check(&self) -> Result<(), Failure> {
        let given = [("--cache-block", self.cache_block), ("--cache-capacity", self.cache_capacity)];
        if let Some((option, _)) = given.iter().find(|(_, value)| value.is_some() && self.form != Form::Cached) {
            return Err(Failure::Usage(format!(
                "{option} is for --form cached: --form {} has no cache",
                self.form.name()
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

    /// What of `forms` is asked for: by requests, or by arrays with a cache.
    fn form(&self) -> densemm::Form {
        let block = self.cache_block.unwrap_or(8);
        match self.form {
            Form::Split => densemm::Form::Split,
            Form::Istructure => densemm::Form::Arrays(Cache::Off),
            Form::Cached => {
                densemm::Form::Arrays(Cache::On { block, capacity: self.cache_capacity.unwrap_or(1_000_000_000) })
            }
        }
    }

    fn parameters(&self) -> [(&'static str, Value); 4] {
        [
            ("form", self.form.name().into()),
            ("cache_block", self.cache_block.into()),
            ("cache_capacity", self.cache_capacity.into()),
            ("count", self.count.into()),
        ]
    }

    /// What has been counted, as a part of the answer.
    fn counted(&self, answer: Answer, counts: &[Counts]) -> Answer {
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
    /// The application, if its options fit together.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`].
    pub fn open(self) -> Result<Densemm, Failure> {
        self.reading.check()?;
        Ok(self)
    }
}

/// The product, as whoever computes has it.
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
