//! Unbalanced Tree Search: a tree by name, or by the original's options, spelt out.

use finespun::RunError;
use finespun_apps::Progress;
use finespun_apps::uts::{self, NAMES, Tree, TreeError};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed};
use crate::args::refused;
use crate::failure::Failure;

/// The original's option letters, and this command's names for them.
const LETTERS: [(&str, &str); 9] = [
    ("-t", "type"),
    ("-a", "shape"),
    ("-b", "branching"),
    ("-d", "depth"),
    ("-r", "seed"),
    ("-q", "q"),
    ("-m", "m"),
    ("-f", "shift"),
    ("-g", "granularity"),
];

/// `uts --tree NAME` or `uts --type ...`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A tree is given by --tree, or by the other options; what is not mentioned has the original's default value: a geometric tree
of linear shape with --branching 4 --depth 6 --seed 0 --q 0.234375 --m 4 --shift 0.5 --granularity 1. Without any option: T1.
About 4 million nodes: T1, T5, T2, T3, T4. About 100 million: T1L, T2L, T3L (17,844 deep).
Answer: nodes, depth, leaves.

Examples:
  finespun run uts --tree T1
  finespun run uts --type 1 --shape 3 --depth 10 --branching 4 --seed 19
  finespun run uts --type 0 --root-branching 2000 --q 0.124875 --m 8 --seed 42")]
pub struct Uts {
    /// A tree of the original's samples: T1, T2, T3, T4, T5, T1L, T2L, T3L, T1XL, ...
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    tree: Option<String>,
    /// 0 binomial, 1 geometric, 2 hybrid, 3 balanced
    #[arg(long = "type", short = 't', value_name = "0-3", allow_hyphen_values = true)]
    kind: Option<String>,
    /// Geometric: 0 linear, 1 exponential, 2 cyclic, 3 fixed
    #[arg(long, short = 'a', value_name = "0-3", allow_hyphen_values = true)]
    shape: Option<String>,
    /// Children of the root: their number, or their expected number in a geometric tree
    #[arg(long, short = 'b', visible_alias = "root-branching", value_name = "B", allow_hyphen_values = true)]
    branching: Option<String>,
    /// Depth of a geometric or balanced tree; with --shape 2 the period
    #[arg(long, short = 'd', value_name = "D", allow_hyphen_values = true)]
    depth: Option<String>,
    /// Seed of the tree, below 2^31
    #[arg(long, short = 'r', value_name = "R", allow_hyphen_values = true)]
    seed: Option<String>,
    /// Binomial: the probability of having children
    #[arg(long, short = 'q', value_name = "Q", allow_hyphen_values = true)]
    q: Option<String>,
    /// Binomial: the number of children of a node that has any
    #[arg(long, short = 'm', value_name = "M", allow_hyphen_values = true)]
    m: Option<String>,
    /// Hybrid: where the tree turns binomial, as a fraction of the depth
    #[arg(long, short = 'f', value_name = "F", allow_hyphen_values = true)]
    shift: Option<String>,
    /// Hashes computed per child, to make the work coarser
    #[arg(long, short = 'g', value_name = "G", allow_hyphen_values = true)]
    granularity: Option<String>,
}

/// The tree to search.
#[derive(Debug)]
pub struct Search {
    tree: Tree,
    parameters: Map<String, Value>,
}

impl Uts {
    /// Builds the tree's description.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for an unknown name, for a value that an option does not take, and for a name combined with
    /// other options.
    pub fn open(self) -> Result<Search, Failure> {
        let values = [
            self.kind,
            self.shape,
            self.branching,
            self.depth,
            self.seed,
            self.q,
            self.m,
            self.shift,
            self.granularity,
        ];
        let given = LETTERS.into_iter().zip(values).filter_map(|((letter, name), value)| Some((letter, name, value?)));
        let given: Vec<_> = given.collect();
        let mut parameters = Map::new();
        let options = match (self.tree, given.first()) {
            (Some(_), Some((_, name, _))) => {
                return Err(Failure::Usage(format!(
                    "--tree does not go together with --{name}: give one or the other"
                )));
            }
            (None, Some(_)) => {
                if let Some((_, name, value)) =
                    given.iter().find(|(_, _, value)| value.trim() != value || value.contains(' '))
                {
                    return Err(Failure::Usage(refused(
                        &format!("--{name}"),
                        value,
                        "it takes one number without spaces",
                    )));
                }
                given.iter().map(|(letter, _, value)| format!("{letter} {value}")).collect::<Vec<_>>().join(" ")
            }
            (name, None) => {
                let name = name.unwrap_or_else(|| "T1".to_owned());
                let (name, options) = named(&name)?;
                parameters.insert("tree".to_owned(), name.into());
                options.to_owned()
            }
        };
        let tree = Tree::parse(&options).map_err(|error| Failure::Usage(spelt_out(&error)))?;
        let words: Vec<_> = options.split(' ').collect();
        for pair in words.chunks_exact(2) {
            parameters.insert(long(pair[0]).to_owned(), number(pair[1]));
        }
        Ok(Search { tree, parameters })
    }
}

/// Returns the usual spelling of the tree's name, and the tree's option letters.
fn named(name: &str) -> Result<(&'static str, &'static str), Failure> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).copied().ok_or_else(|| {
        let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        Failure::Usage(refused("--tree", name, &format!("it takes one of {}", names.join(", "))))
    })
}

/// Returns this command's name for an option letter.
fn long(letter: &str) -> &'static str {
    LETTERS.iter().find(|(known, _)| *known == letter).map_or("tree", |(_, name)| name)
}

/// Converts a value that the tree's parser has accepted to a number.
fn number(text: &str) -> Value {
    match text.parse::<u64>() {
        Ok(whole) => whole.into(),
        Err(_) => text.parse::<f64>().map_or(Value::Null, Value::from),
    }
}

/// Describes the error in terms of this command's options.
fn spelt_out(error: &TreeError) -> String {
    match error {
        TreeError::Value { option, value, allowed } => {
            let reason = format!("it takes {}", allowed.replace("-a ", "--shape "));
            refused(&format!("--{}", long(option)), value, &reason)
        }
        TreeError::Endless => {
            "--q times --m is too much, the tree never ends: give --q below 1, and --q times --m at most about 1"
                .to_owned()
        }
        error => error.to_string(),
    }
}

impl App for Search {
    fn name(&self) -> &'static str {
        "uts"
    }

    fn parameters(&self) -> Map<String, Value> {
        self.parameters.clone()
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let found = executor.compute(&self.tree, uts::plain, uts::search)?;
        Ok(found.map(|counts| {
            Answer::new([
                ("nodes", counts.nodes.into()),
                ("depth", counts.depth.into()),
                ("leaves", counts.leaves.into()),
            ])
        }))
    }
}
