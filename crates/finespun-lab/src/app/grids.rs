//! The applications of objects on nodes: sor.

use finespun::{RunError, task};
use finespun_apps::Progress;
use finespun_object_apps::sor;
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::number;

/// `sor`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Every point of the grid is an object, on the node that --block says: blocks of that side are dealt to the nodes, which form
a grid themselves (--nodes). A point that has all four neighbours on its node is computed on the stack; the others send
messages and become frames. The plain version holds the points as structs that know each other by index. The time is that of
the sweeps alone.
Answer: sum of the interior; and of the layout, reads of neighbours that stay on their node and that do not, in one sweep.

Example: finespun run sor --grid 1024 --iterations 100 --form red-black --nodes 4"
)]
pub struct Sor {
    /// Points along a side, 3 to 8192
    #[arg(long, value_name = "N", default_value = "512", value_parser = number(3..=8192usize))]
    grid: usize,
    /// Sweeps over the grid
    #[arg(long, value_name = "K", default_value = "100", value_parser = number(0..=1_000_000u32))]
    iterations: u32,
    /// Points along the side of a block [default: one block for each node]
    #[arg(long, value_name = "B", value_parser = number(1..=8192usize))]
    block: Option<usize>,
    /// Compute all and then update all, or one colour of a chess-board after the other
    #[arg(long, value_enum, default_value = "two-phase")]
    form: Form,
}

/// The forms by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Form {
    TwoPhase,
    RedBlack,
}

impl Form {
    fn form(self) -> sor::Form {
        match self {
            Form::TwoPhase => sor::Form::TwoPhase,
            Form::RedBlack => sor::Form::RedBlack,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Form::TwoPhase => "two-phase",
            Form::RedBlack => "red-black",
        }
    }
}

impl Sor {
    fn layout(&self, nodes: usize) -> sor::Layout {
        match self.block {
            Some(block) => sor::Layout { side: self.grid, block },
            None => sor::Layout::whole(self.grid, nodes),
        }
    }
}

/// The grid, for the plain version or for the tasks.
enum Grid {
    Plain(sor::Plain),
    Objects(sor::Objects),
}

impl Grid {
    fn plain(&mut self) -> &mut sor::Plain {
        match self {
            Grid::Plain(grid) => grid,
            Grid::Objects(_) => unreachable!("whoever made the grid computes on it"),
        }
    }
}

#[task]
async fn make(layout: sor::Layout) -> Grid {
    let objects = sor::create(layout).await;
    Grid::Objects(objects)
}

#[task]
async fn sweep(grid: &mut Grid, form: sor::Form, sweeps: u32) {
    if let Grid::Objects(objects) = grid {
        sor::sweep(objects, form, sweeps).await;
    }
}

#[task]
async fn sum(grid: &mut Grid) -> f64 {
    match grid {
        Grid::Objects(objects) => sor::sum(objects).await,
        Grid::Plain(grid) => grid.sum(),
    }
}

#[task]
async fn free(grid: Grid) {
    if let Grid::Objects(objects) = grid {
        sor::free(&objects).await;
    }
}

impl App for Sor {
    fn name(&self) -> &'static str {
        "sor"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([
            ("grid", self.grid.into()),
            ("iterations", self.iterations.into()),
            ("block", self.block.into()),
            ("form", self.form.name().into()),
        ])
    }

    fn memory(&self) -> u64 {
        250 * (self.grid * self.grid) as u64
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let (form, sweeps) = (self.form.form(), self.iterations);
        let layout = self.layout(executor.nodes());
        let mut grid = executor.compute(layout, |layout| Grid::Plain(sor::Plain::new(layout.side)), make)?.value;
        let swept =
            executor.compute(&mut grid, |grid| grid.plain().sweep(form, sweeps), |grid| sweep(grid, form, sweeps))?;
        let sum = executor.compute(&mut grid, |grid| grid.plain().sum(), sum)?.value;
        executor.compute(grid, drop, free)?;
        let (local, remote) = layout.reads(executor.nodes());
        Ok(swept.map(|()| {
            let answer = Answer::new([("sum", sum.into())]);
            answer.laid_out([("local_reads", local.into()), ("remote_reads", remote.into())])
        }))
    }
}
