//! The application of objects on an irregular graph: em3d.

use finespun::{RunError, task};
use finespun_apps::Progress;
use finespun_object_apps::em3d;
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::{number, real};
use crate::failure::Failure;

/// `em3d`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
A vertex of the electric field changes by a weighted sum of --degree vertices of the magnetic field, then the other way
round; each vertex is an object on some node. The canonical graph is drawn for each field alone, and the values grow; in the
stable one the same edges serve both ways, and the values stay bounded. --form says how values travel: who needs one reads
it (pull), who has one writes it to all that need it (push), or sends it on a way through them (forward).
With --locality 0 neighbours are drawn from everywhere, which is vertices placed at random: on P nodes one edge in P stays at
home. With F it is a share of F of the others as well: these neighbours are drawn from the own district of at most 64, and a
district is on one node. So another F is another graph, with another answer; the number of nodes changes nothing.
The plain version holds the vertices as structs that know each other by index. The time is that of the steps alone.
Answer: the sums over both fields, the root of the sum of all squares; of the stable graph also |E|^2 + |H|^2 - E.GH at the
start and at the end, which no step changes; and of the layout, edges that stay on their node and that do not.

Example: finespun run em3d --form forward --variant stable --locality 0.99 --nodes 8"
)]
pub struct Em3d {
    /// How values get to the vertices that need them
    #[arg(long, value_enum, default_value = "pull")]
    form: Form,
    /// Variant of the graph
    #[arg(long, value_enum, default_value = "canonical")]
    variant: Variant,
    /// Vertices of each field, 1 to 1048576
    #[arg(long, value_name = "N", default_value = "4096", value_parser = number(1..=1_048_576usize))]
    size: usize,
    /// Neighbours that are drawn for each vertex, 1 to 1024
    #[arg(long, value_name = "D", default_value = "16", value_parser = number(1..=1024usize))]
    degree: usize,
    /// Steps
    #[arg(long, value_name = "K", default_value = "100", value_parser = number(0..=1_000_000u32))]
    iterations: u32,
    /// Seed of the random generator of the graph
    #[arg(long, value_name = "S", default_value = "42", value_parser = number(0..=u32::MAX))]
    seed: u32,
    /// The share of neighbours from the vertex's own district, 0 to 1
    #[arg(long, value_name = "F", default_value = "0", value_parser = real("it takes a number from 0 to 1", |f| (0.0..=1.0).contains(&f)))]
    locality: f64,
}

/// The forms by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Form {
    /// A vertex reads the values that it needs
    Pull,
    /// A vertex writes its value to all vertices that need it
    Push,
    /// One message visits all vertices that need a value
    Forward,
}

impl Form {
    fn form(self) -> (em3d::Form, &'static str) {
        match self {
            Form::Pull => (em3d::Form::Pull, "pull"),
            Form::Push => (em3d::Form::Push, "push"),
            Form::Forward => (em3d::Form::Forward, "forward"),
        }
    }
}

/// The variants by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Variant {
    /// Two independent graphs: the values grow
    Canonical,
    /// The same edges both ways: the values stay bounded
    Stable,
}

impl Variant {
    fn variant(self) -> (em3d::Variant, &'static str) {
        match self {
            Variant::Canonical => (em3d::Variant::Canonical, "canonical"),
            Variant::Stable => (em3d::Variant::Stable, "stable"),
        }
    }
}

/// The graph, for the plain version or for the tasks.
enum Vertices {
    Plain(em3d::Plain),
    Objects(em3d::Objects),
}

impl Vertices {
    fn plain(&mut self) -> &mut em3d::Plain {
        match self {
            Vertices::Plain(vertices) => vertices,
            Vertices::Objects(_) => unreachable!("whoever made the vertices computes on them"),
        }
    }
}

#[task]
async fn make(graph: &em3d::Graph) -> Vertices {
    let objects = em3d::create(graph).await;
    Vertices::Objects(objects)
}

#[task]
async fn step(vertices: &mut Vertices, form: em3d::Form, steps: u32) {
    if let Vertices::Objects(objects) = vertices {
        em3d::step(objects, form, steps).await;
    }
}

#[task]
async fn values(vertices: &mut Vertices) -> em3d::Values {
    match vertices {
        Vertices::Objects(objects) => em3d::values(objects).await,
        Vertices::Plain(vertices) => vertices.values(),
    }
}

#[task]
async fn free(vertices: Vertices) {
    if let Vertices::Objects(objects) = vertices {
        em3d::free(&objects).await;
    }
}

impl Em3d {
    /// Returns the application, if the graph has enough vertices.
    pub fn open(self) -> Result<Em3d, Failure> {
        if self.degree > self.size {
            return Err(Failure::Usage(format!(
                "--degree {}: a vertex has no more neighbours than there are, which are {}: give a smaller number, or a larger --size",
                self.degree, self.size
            )));
        }
        Ok(self)
    }

    fn problem(&self) -> em3d::Problem {
        let &Em3d { size, degree, locality, seed, .. } = self;
        em3d::Problem { variant: self.variant.variant().0, size, degree, locality, seed }
    }
}

impl App for Em3d {
    fn name(&self) -> &'static str {
        "em3d"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([
            ("form", self.form.form().1.into()),
            ("variant", self.variant.variant().1.into()),
            ("size", self.size.into()),
            ("degree", self.degree.into()),
            ("iterations", self.iterations.into()),
            ("seed", self.seed.into()),
            ("locality", self.locality.into()),
        ])
    }

    fn memory(&self) -> u64 {
        2 * self.size as u64 * (400 + 150 * self.degree as u64)
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let (form, steps) = (self.form.form().0, self.iterations);
        let graph = em3d::Graph::draw(self.problem());
        let mut vertices = executor.compute(&graph, |graph| Vertices::Plain(em3d::Plain::new(graph)), make)?.value;
        let stepped = executor.compute(
            &mut vertices,
            |vertices| vertices.plain().step(steps),
            |vertices| step(vertices, form, steps),
        )?;
        let found = executor.compute(&mut vertices, |vertices| vertices.plain().values(), values)?.value;
        executor.compute(vertices, drop, free)?;
        let (electric, magnetic) = found.sums();
        let mut answer = Answer::new([
            ("sum_electric", electric.into()),
            ("sum_magnetic", magnetic.into()),
            ("norm", found.norm().into()),
        ]);
        if graph.problem.variant == em3d::Variant::Stable {
            answer.values.extend(object([
                ("invariant_start", graph.invariant(&graph.start()).into()),
                ("invariant_end", graph.invariant(&found).into()),
            ]));
        }
        let (local, remote) = graph.edges(executor.nodes());
        Ok(stepped.map(|()| answer.laid_out([("local_edges", local.into()), ("remote_edges", remote.into())])))
    }
}
