//! The applications of sparse matrices in write-once arrays: cg, sparsemm.

use std::path::PathBuf;

use finespun::istructure::Counts;
use finespun::{RunError, task};
use finespun_apps::Progress;
use finespun_object_apps::{Sparse, cg, densemm, sparsemm};
use serde_json::{Map, Value};

use super::arrays::Reading;
use super::{Answer, App, Executor, Timed, object};
use crate::args::values::{number, path};
use crate::failure::Failure;

/// The objects that a runtime has made from the input; the plain version makes none.
enum Made<T> {
    Plain,
    Spread(T),
}

impl<T> Made<T> {
    fn spread(self) -> T {
        match self {
            Made::Spread(made) => made,
            Made::Plain => unreachable!("the plain version has made nothing"),
        }
    }

    fn spread_mut(&mut self) -> &mut T {
        match self {
            Made::Spread(made) => made,
            Made::Plain => unreachable!("the plain version has made nothing"),
        }
    }
}

/// `cg`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
NAS CG: an eigenvalue of a random sparse symmetric matrix, by inverse iteration. Each of 15 iterations solves a system of equations by
25 steps of conjugate gradients, and each step multiplies the matrix and a vector. Each node has the rows of the matrix that it owns,
and its elements of the vectors (--nodes). The vector that is multiplied is read by all nodes: a new write-once array in each step.
Inner products are added up in one order, so the answer has the same bits on any number of nodes. The plain version is loops.
The time is that of the iterations: matrix and vectors are made before.
Answer: zeta (class S: 8.5971775078648, W: 10.362595087124, A: 17.130235054029), the norm of the last residual, and the number of
nonzeros; and with --count the reads of all nodes.

Example: finespun run cg --class W --nodes 4
Example: finespun run cg --class S --form cached --cache-block 8 --nodes 16 --count")]
pub struct Cg {
    /// The size of the matrix: 1,400, 7,000 or 14,000 rows
    #[arg(long, value_enum, default_value = "S", ignore_case = true)]
    class: Class,
    /// Iterations, 1 to 1000 [default: 15, for which zeta is published]
    #[arg(long, value_name = "K", value_parser = number(1..=1000u32))]
    iterations: Option<u32>,
    #[command(flatten)]
    reading: Reading,
}

/// The classes by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Class {
    #[value(name = "S")]
    S,
    #[value(name = "W")]
    W,
    #[value(name = "A")]
    A,
}

impl Cg {
    /// Returns the application, if its options fit together.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if they do not.
    pub fn open(self) -> Result<Cg, Failure> {
        self.reading.check()?;
        Ok(self)
    }

    fn problem(&self) -> cg::Problem {
        let problem = match self.class {
            Class::S => cg::Problem::S,
            Class::W => cg::Problem::W,
            Class::A => cg::Problem::A,
        };
        cg::Problem { iterations: self.iterations.unwrap_or(problem.iterations), ..problem }
    }
}

#[task]
async fn spread_system(matrix: &Sparse, form: densemm::Form, counted: bool) -> Made<cg::System> {
    Made::Spread(cg::create(matrix, form, counted).await)
}

#[task]
async fn solve(system: &mut Made<cg::System>, problem: &cg::Problem) -> cg::Found {
    cg::solve(system.spread_mut(), problem).await
}

#[task]
async fn free_system(system: Made<cg::System>) -> Vec<Counts> {
    cg::free(system.spread()).await
}

impl App for Cg {
    fn name(&self) -> &'static str {
        "cg"
    }

    fn parameters(&self) -> Map<String, Value> {
        let class = match self.class {
            Class::S => "S",
            Class::W => "W",
            Class::A => "A",
        };
        let mut parameters = object([("class", class.into()), ("iterations", self.problem().iterations.into())]);
        parameters.extend(object(self.reading.parameters()));
        parameters
    }

    fn memory(&self) -> u64 {
        let problem = self.problem();
        // The terms of the matrix during its construction.
        (16 * problem.rows * (problem.nonzeros + 1) * (problem.nonzeros + 1)) as u64
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let (problem, form) = (self.problem(), self.reading.form());
        let matrix = problem.matrix();
        let spread = |matrix| spread_system(matrix, form, self.reading.count);
        let mut system = executor.compute(&matrix, |_| Made::Plain, spread)?.value;
        let plain = |_: &mut Made<cg::System>| cg::plain(&problem, &matrix);
        let found = executor.compute(&mut system, plain, |system| solve(system, &problem))?;
        let counts = executor.compute(system, |_| Vec::new(), free_system)?.value;
        Ok(found.map(|found| {
            let answer = Answer::new([
                ("zeta", found.zeta.into()),
                ("residual", found.residual.into()),
                ("nonzeros", matrix.nonzeros().into()),
            ]);
            self.reading.counted(answer, &counts)
        }))
    }
}

/// `sparsemm`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Two problems. With FILE, a matrix A in Matrix Market's format (coordinate, real, integer or pattern, perhaps packed by gzip) times its
transpose, A A^T, or with --product ata the other way round, A^T A. Each node computes the rows of the product that it owns, and for
each entry of its rows of the left factor reads a row of the right one: starts, columns and values (--nodes).
Without FILE, Java Grande's SparseMatmult: a random matrix of --random rows and columns and --nonzeros entries is multiplied by the
same vector --iterations times, and the products are added up; the vector is read.
The plain version is loops. The time is that of writing what is read, and of multiplying.
Answer: entries of the product, those that are not zero, their sum, and the Frobenius norm; or Java Grande's total: 75.02484945753453 for 50,000 rows and
250,000 entries, 150.0130719633895 and 749.5245870753752 for twice and ten times as many; and with --count the reads of all nodes.

Example: finespun run sparsemm well1850.mtx.gz --nodes 16 --count
Example: finespun run sparsemm --random 100_000 --nonzeros 500_000 --iterations 200 --nodes 4")]
pub struct Sparsemm {
    /// The matrix to multiply by its transpose
    #[arg(value_name = "FILE", value_parser = path())]
    file: Option<PathBuf>,
    /// Which of the two is on the left
    #[arg(long, value_enum)]
    product: Option<Order>,
    /// Rows and columns of a random matrix, 1 to 10000000 [default: 50000]
    #[arg(long, value_name = "M", value_parser = number(1..=10_000_000usize))]
    random: Option<usize>,
    /// Its entries, 0 to 100000000 [default: five for each row]
    #[arg(long, value_name = "NZ", value_parser = number(0..=100_000_000usize))]
    nonzeros: Option<usize>,
    /// How often it is multiplied, 1 to 1000000 [default: 200]
    #[arg(long, value_name = "K", value_parser = number(1..=1_000_000u32))]
    iterations: Option<u32>,
    #[command(flatten)]
    reading: Reading,
}

/// The products by name.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Order {
    /// A A^T
    Aat,
    /// A^T A
    Ata,
}

impl Order {
    fn name(self) -> &'static str {
        match self {
            Order::Aat => "aat",
            Order::Ata => "ata",
        }
    }
}

/// The problem to compute.
#[derive(Debug)]
enum Problem {
    Product { left: Sparse, right: Sparse, order: Order },
    Repeated(sparsemm::Problem),
}

/// The matrices to multiply.
#[derive(Debug)]
pub struct Matrices {
    arguments: Sparsemm,
    problem: Problem,
}

impl Sparsemm {
    /// Reads the matrix, if one is named.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if the file cannot be read, or the options do not fit together.
    pub fn open(self) -> Result<Matrices, Failure> {
        self.reading.check()?;
        let random = [
            ("--random", self.random.is_some()),
            ("--nonzeros", self.nonzeros.is_some()),
            ("--iterations", self.iterations.is_some()),
        ];
        let problem = match &self.file {
            Some(file) => {
                if let Some((option, _)) = random.iter().find(|(_, given)| *given) {
                    let shown = file.display();
                    return Err(Failure::Usage(format!("{option} is for a random matrix: leave it or `{shown}` out")));
                }
                let matrix = sparsemm::open(file).map_err(|error| Failure::Usage(error.to_string()))?;
                let order = self.product.unwrap_or(Order::Aat);
                let (left, right) = match order {
                    Order::Aat => (matrix.clone(), matrix.transpose()),
                    Order::Ata => (matrix.transpose(), matrix),
                };
                Problem::Product { left, right, order }
            }
            None if self.product.is_some() => {
                let reason = "--product is for a matrix from a file: name the FILE, or leave it out";
                return Err(Failure::Usage(reason.to_owned()));
            }
            None => {
                let rows = self.random.unwrap_or(50_000);
                let nonzeros = self.nonzeros.unwrap_or(5 * rows);
                Problem::Repeated(sparsemm::Problem { rows, nonzeros, times: self.iterations.unwrap_or(200) })
            }
        };
        Ok(Matrices { arguments: self, problem })
    }
}

#[task]
async fn spread_factors(left: &Sparse, right: &Sparse, form: densemm::Form, counted: bool) -> Made<sparsemm::Factors> {
    Made::Spread(sparsemm::create(left, right, form, counted).await)
}

#[task]
async fn multiply(factors: &mut Made<sparsemm::Factors>) -> sparsemm::Sums {
    sparsemm::multiply(factors.spread_mut()).await;
    sparsemm::Sums::default()
}

/// Returns the sums of the product and the counts of reads, and frees the factors.
#[task]
async fn tell(factors: Made<sparsemm::Factors>) -> (Option<sparsemm::Sums>, Vec<Counts>) {
    let factors = factors.spread();
    let sums = sparsemm::sums(&factors).await;
    let counts = sparsemm::counts(&factors).await;
    sparsemm::free(factors).await;
    (Some(sums), counts)
}

#[task]
async fn spread_vector(drawn: &sparsemm::Drawn, form: densemm::Form, counted: bool) -> Made<sparsemm::Spread> {
    Made::Spread(sparsemm::spread(drawn, form, counted).await)
}

#[task]
async fn repeat(spread: &mut Made<sparsemm::Spread>, times: u32) -> Vec<f64> {
    sparsemm::repeat(spread.spread_mut(), times).await
}

#[task]
async fn free_spread(spread: Made<sparsemm::Spread>) -> Vec<Counts> {
    sparsemm::free_spread(spread.spread()).await
}

impl Matrices {
    fn multiply(&self, executor: &Executor, left: &Sparse, right: &Sparse) -> Result<Timed<Answer>, RunError> {
        let reading = &self.arguments.reading;
        let spread = |()| spread_factors(left, right, reading.form(), reading.count);
        let mut factors = executor.compute((), |()| Made::Plain, spread)?.value;
        let multiplied = executor.compute(&mut factors, |_| sparsemm::plain(left, right), multiply)?;
        let (sums, counts) = executor.compute(factors, |_| (None, Vec::new()), tell)?.value;
        Ok(multiplied.map(|plain| {
            let sums = sums.unwrap_or(plain);
            let answer = Answer::new([
                ("entries", sums.entries.into()),
                ("nonzeros", sums.nonzeros.into()),
                ("sum", sums.sum.into()),
                ("frobenius", sums.frobenius().into()),
            ]);
            reading.counted(answer, &counts)
        }))
    }

    fn repeat(&self, executor: &Executor, problem: &sparsemm::Problem) -> Result<Timed<Answer>, RunError> {
        let (reading, times) = (&self.arguments.reading, problem.times);
        let drawn = sparsemm::Drawn::draw(problem);
        let spread = |()| spread_vector(&drawn, reading.form(), reading.count);
        let mut made = executor.compute((), |()| Made::Plain, spread)?.value;
        let plain = |_: &mut Made<sparsemm::Spread>| sparsemm::plain_repeat(&drawn, times);
        let result = executor.compute(&mut made, plain, |made| repeat(made, times))?;
        let counts = executor.compute(made, |_| Vec::new(), free_spread)?.value;
        Ok(result.map(|result| reading.counted(Answer::new([("total", drawn.total(&result).into())]), &counts)))
    }
}

impl App for Matrices {
    fn name(&self) -> &'static str {
        "sparsemm"
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = match &self.problem {
            Problem::Product { left, right, order } => {
                let file = self.arguments.file.as_ref().map(|file| file.to_string_lossy().into_owned());
                let multiplications = sparsemm::multiplications(left, right);
                object([
                    ("file", file.into()),
                    ("product", order.name().into()),
                    ("rows", left.rows().into()),
                    ("multiplications", multiplications.into()),
                ])
            }
            Problem::Repeated(problem) => object([
                ("rows", problem.rows.into()),
                ("nonzeros", problem.nonzeros.into()),
                ("iterations", problem.times.into()),
            ]),
        };
        parameters.extend(object(self.arguments.reading.parameters()));
        parameters
    }

    fn memory(&self) -> u64 {
        match &self.problem {
            // The terms of all rows, which may be in memory at the same time.
            Problem::Product { left, right, .. } => 16 * sparsemm::multiplications(left, right),
            Problem::Repeated(problem) => 36 * problem.nonzeros as u64 + 100 * problem.rows as u64,
        }
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        match &self.problem {
            Problem::Product { left, right, .. } => self.multiply(executor, left, right),
            Problem::Repeated(problem) => self.repeat(executor, problem),
        }
    }
}
