//! The forces between the atoms of a protein.

use std::path::PathBuf;

use finespun::{RunError, task};
use finespun_apps::Progress;
use finespun_object_apps::mdforce::{
    self, Energy, Layout, Locality, MOST_ATOMS, Objects, Pairs, Plain, System, Vector,
};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::refused;
use crate::args::values::{number, path, real};
use crate::failure::Failure;

/// `mdforce`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Every atom is an object, on the node that --layout says. A pair of atoms is computed where its first atom lives. If the second
is there too, or its coordinates are in the node's cache, that is a call on the stack; else a message fetches them, and the
computation becomes a frame. Forces on atoms elsewhere are added up and sent once. The time is that of the evaluations alone:
the list of pairs is made before.

FILE is an .mdsys text (`atoms N`, a line for each: index, name, residue, residue number, mass, charge, sigma, epsilon, x, y, z;
then `exceptions M`: first, second, charge product, sigma, epsilon; units nm, kJ/mol, e; no periodic box), or an AMBER prmtop
with its inpcrd or restart file as --coordinates; all may be packed by gzip. Without --system: T4 lysozyme, 2,603 atoms, which
is part of this program. Four copies (--replicate 4) are 10,412.

Pairs joined by one or two bonds do not count; those joined by three (pairs 1-4) act by parameters of their own, at any
distance. Energies are in kJ/mol. The checksum of the forces adds up the sizes of their components, weighted by 1 to 101 in turn.
Answer: pairs within the cutoff, pairs 1-4, energies, checksum; and of the layout, pairs on one node, pairs over two, and copies
of atoms that nodes keep of others'.

Examples:
  finespun run mdforce --cutoff 0.8 --replicate 4 --layout spatial --nodes 4
  finespun run mdforce --system receptor.prmtop --coordinates receptor.crd --cutoff 1.2 --layout random --nodes 64"
)]
pub struct Mdforce {
    /// The system: an .mdsys file or an AMBER prmtop [default: T4 lysozyme]
    #[arg(long, value_name = "FILE", value_parser = path())]
    system: Option<PathBuf>,
    /// The coordinates that belong to an AMBER prmtop
    #[arg(long, value_name = "FILE", value_parser = path(), requires = "system")]
    coordinates: Option<PathBuf>,
    /// Pairs farther apart than this many nanometres do not act
    #[arg(long, value_name = "NM", default_value = "0.8", value_parser = real("it takes a number of nanometres above 0, at most 1e6", |nm| nm > 0.0 && nm <= 1e6))]
    cutoff: f64,
    /// Distribute the atoms to the nodes at random, or by boxes of near atoms
    #[arg(long, value_enum, default_value = "spatial")]
    layout: LayoutName,
    /// Copies of the system side by side, 1 to 10000
    #[arg(long, value_name = "K", default_value = "1", value_parser = number(1..=10_000usize))]
    replicate: usize,
    /// How often the forces are computed
    #[arg(long, value_name = "K", default_value = "10", value_parser = number(1..=1_000_000u32))]
    iterations: u32,
}

/// The layouts by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LayoutName {
    Random,
    Spatial,
}

impl LayoutName {
    fn layout(self) -> Layout {
        match self {
            LayoutName::Random => Layout::Random,
            LayoutName::Spatial => Layout::Spatial,
        }
    }

    fn name(self) -> &'static str {
        match self {
            LayoutName::Random => "random",
            LayoutName::Spatial => "spatial",
        }
    }
}

/// The forces to compute.
#[derive(Debug)]
pub struct Forces {
    arguments: Mdforce,
    system: System,
}

impl Mdforce {
    /// Reads the system.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if a file cannot be read, or if the copies are too many.
    pub fn open(self) -> Result<Forces, Failure> {
        let one = match &self.system {
            None => mdforce::t4(),
            Some(path) => {
                let read = System::open(path, self.coordinates.as_deref());
                read.map_err(|error| Failure::Usage(error.to_string()))?
            }
        };
        let most = MOST_ATOMS / one.sites().len();
        if self.replicate > most {
            let reason = format!("{} atoms fit {most} times at most", one.sites().len());
            return Err(Failure::Usage(refused("--replicate", &self.replicate.to_string(), &reason)));
        }
        let system = one.replicate(self.replicate);
        Ok(Forces { arguments: self, system })
    }
}

/// The input from which the objects are created.
struct Input {
    pairs: Pairs,
    homes: Vec<usize>,
}

/// The atoms, for the plain version or for the tasks.
enum Atoms<'a> {
    Plain(Plain<'a>),
    Objects(Objects),
}

impl<'a> Atoms<'a> {
    fn plain(&mut self) -> &mut Plain<'a> {
        match self {
            Atoms::Plain(atoms) => atoms,
            Atoms::Objects(_) => unreachable!("whoever made the atoms computes with them"),
        }
    }
}

#[task]
async fn make<'a>(system: &'a System, input: &'a Input) -> Atoms<'a> {
    let objects: Objects = mdforce::create(system, &input.pairs, &input.homes).await;
    Atoms::Objects(objects)
}

#[task]
async fn evaluate(atoms: &mut Atoms<'_>, iterations: u32) -> Energy {
    match atoms {
        Atoms::Objects(objects) => mdforce::evaluate(objects, iterations).await,
        Atoms::Plain(plain) => plain.evaluate(iterations),
    }
}

#[task]
async fn forces(atoms: &mut Atoms<'_>) -> Vec<Vector> {
    match atoms {
        Atoms::Objects(objects) => mdforce::forces(objects).await,
        Atoms::Plain(plain) => plain.forces(),
    }
}

#[task]
async fn free(atoms: Atoms<'_>) {
    if let Atoms::Objects(objects) = atoms {
        mdforce::free(&objects).await;
    }
}

impl App for Forces {
    fn name(&self) -> &'static str {
        "mdforce"
    }

    fn parameters(&self) -> Map<String, Value> {
        let file = |path: &Option<PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
        object([
            ("system", file(&self.arguments.system).into()),
            ("coordinates", file(&self.arguments.coordinates).into()),
            ("cutoff", self.arguments.cutoff.into()),
            ("layout", self.arguments.layout.name().into()),
            ("replicate", self.arguments.replicate.into()),
            ("iterations", self.arguments.iterations.into()),
            ("atoms", self.system.sites().len().into()),
        ])
    }

    fn memory(&self) -> u64 {
        120 * Pairs::estimate(&self.system, self.arguments.cutoff) + 1000 * self.system.sites().len() as u64
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let (system, iterations) = (&self.system, self.arguments.iterations);
        let pairs = Pairs::new(system, self.arguments.cutoff);
        let homes = self.arguments.layout.layout().nodes(system, executor.nodes());
        let input = Input { pairs, homes };
        let plain = |input| Atoms::Plain(Plain::new(system, Input::pairs(input)));
        let mut atoms = executor.compute(&input, plain, |input| make(system, input))?.value;
        let energy = executor.compute(
            &mut atoms,
            |atoms| atoms.plain().evaluate(iterations),
            |atoms| evaluate(atoms, iterations),
        )?;
        let forces = executor.compute(&mut atoms, |atoms| atoms.plain().forces(), forces)?.value;
        executor.compute(atoms, drop, free)?;
        let locality = Locality::of(&input.pairs, &input.homes);
        Ok(energy.map(|energy| {
            Answer::new([
                ("pairs", input.pairs.regular().into()),
                ("pairs_1-4", input.pairs.exceptions().into()),
                ("lj", energy.lj.into()),
                ("coulomb", energy.coulomb.into()),
                ("lj_1-4", energy.lj_14.into()),
                ("coulomb_1-4", energy.coulomb_14.into()),
                ("forces", mdforce::checksum(&forces).into()),
            ])
            .laid_out([
                ("local_pairs", locality.local.into()),
                ("remote_pairs", locality.remote.into()),
                ("copies", locality.copies.into()),
            ])
        }))
    }
}

impl Input {
    fn pairs(&self) -> &Pairs {
        &self.pairs
    }
}
