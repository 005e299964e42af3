//! Sequences of hydrophobic and polar monomers.

use std::fmt;
use std::str::FromStr;

use super::lattice::MAX_SITES;

/// A chain of hydrophobic (H) and polar (P) monomers, of length 1 to [`MAX_SITES`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sequence {
    hydrophobic: u64,
    monomers: u8,
}

/// An error in the text of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SequenceError {
    /// The text has no letter.
    #[error("the sequence is empty: give one letter H or P per site of the box")]
    Empty,
    /// A letter other than H and P.
    #[error("letter `{letter}` at place {place} of the sequence: only H (hydrophobic) and P (polar) are allowed")]
    Letter {
        /// The invalid letter.
        letter: char,
        /// Its position, counted from 1.
        place: usize,
    },
    /// More letters than any box has sites.
    #[error("the sequence has {monomers} letters: at most {MAX_SITES} are possible, one per site of the box")]
    TooLong {
        /// The number of letters.
        monomers: usize,
    },
}

impl Sequence {
    /// Parses a sequence from its letters, upper or lower case, for example `HPHHP`.
    ///
    /// # Errors
    ///
    /// Fails if the text is empty, has another letter, or has more than [`MAX_SITES`] letters.
    pub fn parse(text: &str) -> Result<Self, SequenceError> {
        let text = text.trim();
        let mut hydrophobic = 0;
        let mut monomers = 0;
        for letter in text.chars() {
            let bit = match letter {
                'H' | 'h' => 1,
                'P' | 'p' => 0,
                _ => {
                    return Err(SequenceError::Letter { letter, place: monomers + 1 });
                }
            };
            if monomers < MAX_SITES {
                hydrophobic |= bit << monomers;
            }
            monomers += 1;
        }
        match monomers {
            0 => Err(SequenceError::Empty),
            1..=MAX_SITES => Ok(Sequence { hydrophobic, monomers: monomers as u8 }),
            _ => Err(SequenceError::TooLong { monomers }),
        }
    }

    /// Returns the number of monomers; never zero.
    #[expect(clippy::len_without_is_empty, reason = "no sequence is empty")]
    pub fn len(self) -> usize {
        usize::from(self.monomers)
    }

    /// Returns whether the monomer at `place`, counted from 0, is hydrophobic.
    pub fn is_hydrophobic(self, place: usize) -> bool {
        place < self.len() && self.hydrophobic >> place & 1 == 1
    }

    /// Returns the number of H-H pairs that are bonded by the chain.
    pub(super) fn bonds(self) -> u32 {
        (self.hydrophobic & (self.hydrophobic >> 1)).count_ones()
    }
}

impl FromStr for Sequence {
    type Err = SequenceError;

    fn from_str(text: &str) -> Result<Self, SequenceError> {
        Self::parse(text)
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.len()).try_for_each(|place| f.write_str(if self.is_hydrophobic(place) { "H" } else { "P" }))
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sequence({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::{Sequence, SequenceError};
    use proptest::prelude::*;

    #[test]
    fn bonds_are_counted_along_the_chain() {
        for (text, bonds) in [("H", 0), ("HH", 1), ("HPH", 0), ("HHHPHH", 3)] {
            assert_eq!(Sequence::parse(text).expect(text).bonds(), bonds, "{text}");
        }
    }

    #[test]
    fn errors_name_the_letter_and_its_place() {
        assert_eq!(Sequence::parse(" "), Err(SequenceError::Empty));
        assert_eq!(Sequence::parse("HPX"), Err(SequenceError::Letter { letter: 'X', place: 3 }));
        assert_eq!(Sequence::parse(&"H".repeat(65)), Err(SequenceError::TooLong { monomers: 65 }));
        assert!(Sequence::parse(&"H".repeat(64)).is_ok());
    }

    proptest! {
        #[test]
        fn parsed_letters_are_printed_unchanged(text in "[HP]{1,64}") {
            prop_assert_eq!(Sequence::parse(&text).expect("valid").to_string(), text);
        }

        #[test]
        fn other_text_is_rejected(text in "[HP]{0,70}[^HhPp\\s][HP]{0,3}") {
            prop_assert!(Sequence::parse(&text).is_err());
        }
    }
}
