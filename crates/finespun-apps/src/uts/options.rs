//! Trees from the original's option letters, and by name.

use super::tree::{Kind, Shape, Tree};

/// The sample trees of the original, by name: about 4 million nodes without a suffix, 100 million with L, 2 to 10
/// thousand million with XL and XXL, 150 to 300 thousand million with WL.
pub const NAMES: &[(&str, &str)] = &[
    ("T1", "-t 1 -a 3 -d 10 -b 4 -r 19"),
    ("T5", "-t 1 -a 0 -d 20 -b 4 -r 34"),
    ("T2", "-t 1 -a 2 -d 16 -b 6 -r 502"),
    ("T3", "-t 0 -b 2000 -q 0.124875 -m 8 -r 42"),
    ("T4", "-t 2 -a 0 -d 16 -b 6 -r 1 -q 0.234375 -m 4"),
    ("T1L", "-t 1 -a 3 -d 13 -b 4 -r 29"),
    ("T2L", "-t 1 -a 2 -d 23 -b 7 -r 220"),
    ("T3L", "-t 0 -b 2000 -q 0.200014 -m 5 -r 7"),
    ("T1XL", "-t 1 -a 3 -d 15 -b 4 -r 29"),
    ("T1XXL", "-t 1 -a 3 -d 15 -b 4 -r 19"),
    ("T3XXL", "-t 0 -b 2000 -q 0.499995 -m 2 -r 316"),
    ("T2XXL", "-t 0 -b 2000 -q 0.499999995 -m 2 -r 0"),
    ("T1WL", "-t 1 -a 3 -d 18 -b 4 -r 19"),
    ("T2WL", "-t 0 -b 2000 -q 0.4999999995 -m 2 -r 559"),
    ("T3WL", "-t 0 -b 2000 -q 0.4999995 -m 2 -r 559"),
];

/// An error in the description of a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// No tree has this name.
    #[error(
        "no tree is called `{name}`: use one of {}, or option letters such as `-t 1 -a 3 -d 10 -b 4 -r 19`",
        names()
    )]
    Name {
        /// The unknown name.
        name: String,
    },
    /// An option letter that does not exist.
    #[error("`{option}` is no tree option: use -t -a -b -d -r -q -m -f -g, each followed by its value")]
    Option {
        /// The unknown option.
        option: String,
    },
    /// An option letter at the end of the text.
    #[error("option `{option}` needs a value after it: {allowed}")]
    Missing {
        /// The option.
        option: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// A value that the option does not accept.
    #[error("option `{option}` cannot be `{value}`: it takes {allowed}")]
    Value {
        /// The option.
        option: String,
        /// The rejected value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// A tree that cannot end.
    #[error("a tree in which every node has children never ends: give -q below 1, and -q times -m at most about 1")]
    Endless,
}

fn names() -> String {
    NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

impl Tree {
    /// Returns one of the original's sample trees: `T1`, ..., `T3WL` (see [`NAMES`]).
    ///
    /// # Errors
    ///
    /// Returns [`TreeError::Name`], which lists the names, if no tree has this name.
    pub fn named(name: &str) -> Result<Self, TreeError> {
        match NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, options)) => Self::parse(options),
            None => Err(TreeError::Name { name: name.to_owned() }),
        }
    }

    /// Parses the original's option letters, separated by spaces; omitted options have their default values.
    ///
    /// - `-t` type: 0 binomial, 1 geometric, 2 hybrid, 3 balanced
    /// - `-a` shape of a geometric tree: 0 linear, 1 exponential, 2 cyclic, 3 fixed
    /// - `-b` children of the root (expected number for a geometric tree)
    /// - `-d` depth of a geometric or balanced tree (with `-a 2` the period)
    /// - `-r` seed, below 2^31
    /// - `-q`, `-m` binomial: probability of having children, and their number
    /// - `-f` hybrid: depth at which the tree becomes binomial, as a fraction of `-d`
    /// - `-g` hashes computed per child, to make the work coarser
    ///
    /// A binomial tree with q m above 1 is infinite with some probability, which depends on the seed; T3L has q m =
    /// 1.00007 and ends. Only trees that certainly do not end are rejected.
    ///
    /// # Errors
    ///
    /// Returns a [`TreeError`] that names the option and its allowed values.
    ///
    /// # Example
    ///
    /// ```
    /// use finespun_apps::uts::{Tree, plain};
    ///
    /// let tree = Tree::parse("-t 3 -b 2 -d 4")?;
    /// assert_eq!(plain(&tree).nodes, 31);
    /// # Ok::<(), finespun_apps::uts::TreeError>(())
    /// ```
    pub fn parse(options: &str) -> Result<Self, TreeError> {
        let mut tree = Tree::default();
        let mut words = options.split_whitespace();
        while let Some(option) = words.next() {
            let allowed = allowed(option).ok_or_else(|| TreeError::Option { option: option.to_owned() })?;
            let value = words.next().ok_or_else(|| TreeError::Missing { option: option.to_owned(), allowed })?;
            tree.set(option, value).ok_or_else(|| TreeError::Value {
                option: option.to_owned(),
                value: value.to_owned(),
                allowed,
            })?;
        }
        let binomial = matches!(tree.kind, Kind::Binomial | Kind::Hybrid);
        if binomial && tree.inner_children > 0 && tree.probability >= 1.0 {
            return Err(TreeError::Endless);
        }
        if tree.kind == Kind::Geometric && tree.shape == Shape::Exponential && tree.root_children < 1.0 {
            return Err(TreeError::Value {
                option: "-b".to_owned(),
                value: tree.root_children.to_string(),
                allowed: "at least 1 with `-a 1`, or the tree may grow for ever",
            });
        }
        Ok(tree.tabulate())
    }

    /// Sets one option. Returns `None` if the option does not accept `value`.
    fn set(&mut self, option: &str, value: &str) -> Option<()> {
        match option {
            "-t" => {
                self.kind = match value {
                    "0" => Kind::Binomial,
                    "1" => Kind::Geometric,
                    "2" => Kind::Hybrid,
                    "3" => Kind::Balanced,
                    _ => return None,
                }
            }
            "-a" => {
                self.shape = match value {
                    "0" => Shape::Linear,
                    "1" => Shape::Exponential,
                    "2" => Shape::Cyclic,
                    "3" => Shape::Fixed,
                    _ => return None,
                }
            }
            "-b" => self.root_children = real(value, 1e6)?,
            "-d" => self.depth = whole(value).filter(|&depth| depth > 0)?,
            "-r" => self.seed = whole(value)?,
            "-q" => self.probability = real(value, 1.0)?,
            "-m" => self.inner_children = whole(value)?,
            "-f" => self.shift = real(value, 1e6)?,
            "-g" => self.granularity = whole(value).filter(|&hashes| hashes > 0)?,
            _ => return None,
        }
        Some(())
    }
}

/// Describes the allowed values of an option; `None` if the option does not exist.
fn allowed(option: &str) -> Option<&'static str> {
    Some(match option {
        "-t" => "0 (binomial), 1 (geometric), 2 (hybrid) or 3 (balanced)",
        "-a" => "0 (linear), 1 (exponential), 2 (cyclic) or 3 (fixed)",
        "-b" => "a number of children from 0 to 1000000",
        "-d" | "-g" => "a whole number from 1 to 2147483647",
        "-r" | "-m" => "a whole number from 0 to 2147483647",
        "-q" => "a probability from 0 to 1",
        "-f" => "a number from 0 to 1000000",
        _ => return None,
    })
}

fn whole(value: &str) -> Option<u32> {
    value.parse::<u32>().ok().filter(|&value| value < 1 << 31)
}

fn real(value: &str, most: f64) -> Option<f64> {
    value.parse::<f64>().ok().filter(|value| (0.0..=most).contains(value))
}

#[cfg(test)]
mod tests {
    use super::{NAMES, Tree, TreeError};
    use proptest::prelude::*;

    #[test]
    fn every_named_tree_is_valid() {
        for (name, _) in NAMES {
            Tree::named(name).expect(name);
            Tree::named(&name.to_lowercase()).expect(name);
        }
    }

    #[test]
    fn errors_name_the_thing_and_the_cure() {
        let error = |options: &str| Tree::parse(options).expect_err(options).to_string();
        assert!(error("-z 1").contains("`-z` is no tree option: use -t"));
        assert!(error("-t 4").contains("option `-t` cannot be `4`: it takes 0 (binomial)"));
        assert!(error("-t 1 -d").contains("option `-d` needs a value after it: a whole number"));
        assert!(error("-r 2147483648").contains("2147483647"));
        assert!(error("-q nan").contains("a probability from 0 to 1"));
        assert!(error("-a 1 -b 0.5").contains("at least 1 with `-a 1`"));
        assert!(error("-t 0 -q 1").contains("never ends"));
        assert!(Tree::named("T9").expect_err("no such tree").to_string().contains("T1, T5, T2"));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[-tabdrqmfg0-9. einfa]{0,40}") {
            let _ = Tree::parse(&text);
        }

        #[test]
        fn numbers_out_of_range_are_rejected(seed in 1u64 << 31..) {
            let options = format!("-r {seed}");
            let refused = matches!(Tree::parse(&options), Err(TreeError::Value { .. }));
            prop_assert!(refused);
        }
    }
}
