//! Programs of objects and closures beside plain ones, and beside their *floor*: the plain program in which each struct is looked up by
//! name.
//!
//! The plain programs refer to structs by index. A reference to an object is a name. Each call compares it with the word in
//! front of the object, because the object may have been freed or may be on another node. In the floor, structs are the
//! elements of a vector, each with its name in front of it: a look-up compares with the vector's length and with the name. The
//! difference between objects and their floor is the cost of the library: loops over arrays, locks, and guard checks.
//! The floor of closures are closures by hand, in vectors of one thread.
//!
//! - `slots`: structs that are found by name
//! - `sor`, `em3d`, `mdforce`: the three programs with them
//! - `protein`: the search by closures
//! - `memory`: what many small objects take

mod em3d;
mod mdforce;
mod memory;
mod protein;
mod slots;
mod sor;

use std::convert::Infallible;
use std::time::Instant;

use finespun::Runtime;
use serde_json::json;

use super::measure::alternate;
use super::{Bench, Extra, Report, Sample, figures, wanted};
use finespun_apps::{Progress, protein as folding};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_object_apps::{em3d as waves, mdforce as forces, sor as grid};

/// Rounds for each one that the options ask for: a run takes milliseconds.
const ROUNDS: usize = 8;

/// The row of the second table.
const MEMORY: &str = "memory";

/// What runs in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Plain,
    Floor,
    Ours,
}

const WAYS: [Way; 3] = [Way::Plain, Way::Floor, Way::Ours];

/// A program, made once in all three ways.
struct Case<'a> {
    /// The unit of the times, and the number of units in a run.
    unit: &'static str,
    units: u64,
    run: Box<dyn FnMut(Way) + 'a>,
}

/// Measures a case.
type Measure<'m> = &'m mut dyn FnMut(Case<'_>);

/// A row of the table.
struct Row {
    name: &'static str,
    /// The bound on our time over the plain program's.
    bound: f64,
    make: fn(&Runtime, quick: bool, Measure<'_>),
}

const ROWS: [Row; 7] = [
    Row {
        name: "sor-two-phase",
        bound: 1.3,
        make: |runtime, quick, measure| sor(runtime, grid::Form::TwoPhase, quick, measure),
    },
    Row {
        name: "sor-red-black",
        bound: 1.3,
        make: |runtime, quick, measure| sor(runtime, grid::Form::RedBlack, quick, measure),
    },
    Row { name: "em3d-512", bound: 1.5, make: |runtime, quick, measure| em3d(runtime, 512, quick, measure) },
    Row { name: "em3d-4096", bound: 1.5, make: |runtime, quick, measure| em3d(runtime, 4096, quick, measure) },
    Row { name: "mdforce", bound: 1.2, make: mdforce },
    Row { name: "protein-paths", bound: 1.25, make: protein::<0> },
    Row { name: "protein", bound: 1.25, make: protein::<1> },
];

fn sor(runtime: &Runtime, form: grid::Form, quick: bool, measure: Measure<'_>) {
    let side = if quick { 16 } else { 1024 };
    let mut plain = grid::Plain::new(side);
    let mut floor = sor::Grid::new(side);
    let objects = runtime.run(grid::create(grid::Layout::whole(side, 1)));
    let run = |way| match way {
        Way::Plain => plain.sweep(form, 1),
        Way::Floor => floor.sweep(form),
        Way::Ours => runtime.run(grid::sweep(&objects, form, 1)),
    };
    measure(Case { unit: "point", units: ((side - 2) * (side - 2)) as u64, run: Box::new(run) });
    let known = plain.sum().to_bits();
    assert_eq!(
        [floor.sum().to_bits(), runtime.run(grid::sum(&objects)).to_bits()],
        [known; 2],
        "three ways, one answer"
    );
    runtime.run(grid::free(&objects));
}

fn em3d(runtime: &Runtime, size: usize, quick: bool, measure: Measure<'_>) {
    let steps = if quick { 1 } else { 16_384 / size };
    let problem = waves::Problem { variant: waves::Variant::Stable, size, degree: 16, locality: 0.0, seed: 42 };
    let graph = waves::Graph::draw(problem);
    let mut plain = waves::Plain::new(&graph);
    let mut floor = em3d::Fields::new(&graph);
    let objects = runtime.run(waves::create(&graph));
    let run = |way| match way {
        Way::Plain => plain.step(steps as u32),
        Way::Floor => (0..steps).for_each(|_| floor.step()),
        Way::Ours => runtime.run(waves::step(&objects, waves::Form::Pull, steps as u32)),
    };
    let (edges, _) = graph.edges(1);
    measure(Case { unit: "edge", units: edges * steps as u64, run: Box::new(run) });
    let known = plain.values();
    assert_eq!(
        [floor.values(), runtime.run(waves::values(&objects))],
        [known.clone(), known],
        "three ways, one answer"
    );
    runtime.run(waves::free(&objects));
}

fn mdforce(runtime: &Runtime, quick: bool, measure: Measure<'_>) {
    let system = if quick { forces::t4().first(200) } else { forces::t4() };
    let pairs = forces::Pairs::new(&system, 0.8);
    let mut plain = forces::Plain::new(&system, &pairs);
    let mut floor = mdforce::Atoms::new(&system, &pairs);
    let homes = forces::Layout::Spatial.nodes(&system, 1);
    let objects = runtime.run(forces::create(&system, &pairs, &homes));
    let mut energies = [None; 3];
    let run = |way| {
        energies[way as usize] = Some(match way {
            Way::Plain => plain.evaluate(1),
            Way::Floor => floor.evaluate(),
            Way::Ours => runtime.run(forces::evaluate(&objects, 1)),
        });
    };
    measure(Case { unit: "pair", units: pairs.regular() + pairs.exceptions(), run: Box::new(run) });
    assert!(energies.iter().all(|&energy| energy == energies[0]), "three ways, one answer: {energies:?}");
    let known = plain.forces();
    assert_eq!(
        [floor.forces(), runtime.run(forces::forces(&objects))],
        [known.clone(), known],
        "three ways, one answer"
    );
    runtime.run(forces::free(&objects));
}

/// Foldings of a chain, and without one its paths alone.
fn protein<const K: usize>(runtime: &Runtime, quick: bool, measure: Measure<'_>) {
    let (lattice, chain) = if quick { ("3x3", "HPHPPHHPH") } else { ("3x3x3", "HPHPPHHPHPPHPHHPPHPHHPHPPHP") };
    let lattice = folding::Lattice::parse(lattice).expect("a lattice");
    let chains = [folding::Sequence::parse(chain).expect("a sequence")];
    let problem = folding::Problem::new(lattice, &chains[..K]).expect("a monomer for each site");
    let mut found = [const { None }; 3];
    let run = |way| {
        let progress = Progress::new();
        found[way as usize] = Some(match way {
            Way::Plain => folding::plain(&problem, &progress),
            Way::Floor => protein::fold::<K>(&problem, &progress),
            Way::Ours => runtime.run(folding::threads::fold(&problem, &progress)),
        });
    };
    let paths = folding::plain(&problem, &Progress::new()).paths;
    measure(Case { unit: "path", units: paths, run: Box::new(run) });
    assert!(found.iter().all(|one| *one == found[0]), "three ways, one answer: {found:?}");
}

/// The `floors` bench.
#[derive(Debug)]
pub struct Floors;

impl Bench for Floors {
    fn rows(&self) -> Vec<String> {
        ROWS.iter().map(|row| row.name).chain([MEMORY]).map(str::to_owned).collect()
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let rounds = if options.quick { options.rounds } else { options.rounds * ROUNDS };
        let runtime = Runtime::builder().workers(1).build()?;
        let rows: Vec<_> = ROWS.iter().filter(|row| wanted(options, row.name)).collect();
        let memory = wanted(options, MEMORY);
        report.expect(rows.len() + usize::from(memory));
        let head = [
            "ns of a point, edge, pair or path",
            "plain",
            "floor",
            "ours",
            "floor / plain",
            "(median)",
            "ours / plain",
            "(median)",
            "bound",
        ];
        let table = report.table(ROWS.iter().map(|row| row.name.len()).max().unwrap_or(0), &head)?;
        let mut missed = Vec::new();
        for row in rows {
            report.step(row.name);
            let mut written = Ok(());
            (row.make)(&runtime, options.quick, &mut |case| {
                let found = Found::of(row, case, rounds);
                report.row(found.json());
                missed.extend((found.cost(Way::Ours) > row.bound).then(|| found.complaint()));
                written = report.line(&table, &found.cells());
            });
            written?;
        }
        report.say(&format!(
            "\nOne worker, one node. Least times of {rounds} runs in turn and their ratios; in brackets the medians of the ratios of\n\
             each round. Floor: the plain program, with each struct behind a name that is compared; for protein, closures by hand.\n",
        ))?;
        if memory {
            memory::part(report, options.quick, &mut missed)?;
        }
        if !options.quick && !missed.is_empty() {
            report.complaint = Some(missed.join("; "));
        }
        Ok(())
    }
}

/// The times of a row, in nanoseconds per unit.
struct Found {
    row: &'static Row,
    unit: &'static str,
    samples: [Sample; 3],
}

impl Found {
    fn of(row: &'static Row, mut case: Case<'_>, rounds: usize) -> Found {
        let run = std::cell::RefCell::new(&mut case.run);
        let Ok(samples) = alternate(rounds, &WAYS, |&way| {
            let begun = Instant::now();
            (run.borrow_mut())(way);
            Ok::<_, Infallible>(begun.elapsed().as_secs_f64() * 1e9 / case.units as f64)
        });
        Found { row, unit: case.unit, samples: samples.try_into().expect("a sample for each way") }
    }

    fn of_way(&self, way: Way) -> &Sample {
        &self.samples[way as usize]
    }

    /// Returns the ratio of the least times of this way and the plain one.
    fn cost(&self, way: Way) -> f64 {
        self.of_way(way).least() / self.of_way(Way::Plain).least()
    }

    /// Returns the median of the ratios of each round.
    fn median(&self, way: Way) -> f64 {
        let rounds = self.of_way(way).all().iter().zip(self.of_way(Way::Plain).all());
        rounds.map(|(way, plain)| way / plain).collect::<Sample>().median()
    }

    fn cells(&self) -> Vec<String> {
        let number = |number: f64| format!("{number:.2}");
        let times = WAYS.map(|way| number(self.of_way(way).least()));
        let ratios = [Way::Floor, Way::Ours].map(|way| [self.cost(way), self.median(way)].map(number));
        let bound = [number(self.row.bound)];
        [self.row.name.to_owned()].into_iter().chain(times).chain(ratios.into_iter().flatten()).chain(bound).collect()
    }

    fn complaint(&self) -> String {
        format!("{} costs {:.2} of the plain program, not {}", self.row.name, self.cost(Way::Ours), self.row.bound)
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "name": self.row.name, "unit": self.unit, "plain": figures(self.of_way(Way::Plain)),
            "floor": figures(self.of_way(Way::Floor)), "ours": figures(self.of_way(Way::Ours)),
            "floor_cost": self.cost(Way::Floor), "ours_cost": self.cost(Way::Ours), "bound": self.row.bound,
        })
    }
}
