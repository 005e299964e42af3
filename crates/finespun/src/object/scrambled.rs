//! The numbers of runs, groups and waits in messages between processes.
//!
//! They are small in a process, and each is used once, so a damaged one could be the number of a later run, group or wait. In
//! messages they are multiplied by odd factors: a damaged one is then far from all numbers in use.

use crate::cancel::teams::GroupName;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// The inverse of the factor.
const DIVISOR: u64 = 0xf1de_83e1_9937_733d;
const _: () = assert!(FACTOR.wrapping_mul(DIVISOR) == 1);

/// The same for 32 bits.
const FACTOR_32: u32 = 0x9e37_79b1;
const DIVISOR_32: u32 = 0x0e8b_2f51;
const _: () = assert!(FACTOR_32.wrapping_mul(DIVISOR_32) == 1);

/// Returns a run's name in a message.
pub(crate) fn run_in_message(name: u32) -> [u8; 4] {
    name.wrapping_mul(FACTOR_32).to_le_bytes()
}

/// Reverses [`run_in_message`].
pub(super) fn run_of_message(word: u32) -> u32 {
    word.wrapping_mul(DIVISOR_32)
}

/// Returns the number of a wait in a message.
pub(super) fn wait_in_message(number: u64) -> u64 {
    number.wrapping_mul(FACTOR)
}

/// Reverses [`wait_in_message`].
pub(super) fn wait_of_message(word: u64) -> u64 {
    word.wrapping_mul(DIVISOR)
}

/// Returns a group's name in a message. The second word depends on the first, so that words of two names make no third.
pub(super) fn group_in_message(GroupName { home, index, uses }: GroupName) -> [u64; 2] {
    let place = (u64::from(home) << 32 | u64::from(index)).wrapping_mul(FACTOR);
    [place, (uses ^ place).wrapping_mul(FACTOR)]
}

/// Reverses [`group_in_message`].
pub(super) fn group_of_message([place, uses]: [u64; 2]) -> GroupName {
    let uses = uses.wrapping_mul(DIVISOR) ^ place;
    let place = place.wrapping_mul(DIVISOR);
    GroupName { home: (place >> 32) as u32, index: place as u32, uses }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Names of groups that a process may have: few processes and groups, each used some million times.
    fn is_likely(name: GroupName) -> bool {
        name.home < 1 << 16 && name.index < 1 << 24 && name.uses < 1 << 32
    }

    #[test]
    fn a_damaged_name_is_not_that_of_another_group() {
        let names: Vec<_> = (0..3).flat_map(|home| (0..9).map(move |index| (home, index))).collect();
        let names = names.into_iter().flat_map(|(home, index)| [1, 2, 77].map(|uses| GroupName { home, index, uses }));
        let names: Vec<_> = names.collect();
        for &name in &names {
            let words = group_in_message(name);
            assert_eq!(group_of_message(words), name);
            for bit in 0..128 {
                let mut damaged = words;
                damaged[bit / 64] ^= 1 << (bit % 64);
                assert!(!is_likely(group_of_message(damaged)), "{name:?}, bit {bit}");
            }
            for other in names.iter().map(|other| group_in_message(*other)).filter(|other| *other != words) {
                let mixed = group_of_message([words[0], other[1]]);
                assert!(!is_likely(mixed) || group_in_message(mixed) == other, "{name:?} and {other:?} make {mixed:?}");
            }
        }
    }
}
