//! The random number generator of the trees: SHA-1 of one block.

use sha1::block_api::compress;

/// The five words of a SHA-1 digest.
pub(super) type State = [u32; 5];

const INITIAL: State = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// Returns the root's state: the digest of 16 zero bytes and the seed.
pub(super) fn root(seed: u32) -> State {
    digest([0, 0, 0, 0, seed])
}

/// Returns the state of the child number `child`: the digest of the parent's state and the number.
#[inline]
pub(super) fn child(parent: State, child: u32) -> State {
    let [a, b, c, d, e] = parent;
    digest([a, b, c, d, e, child])
}

/// Converts a state to a number from 0 to 2^31 - 1.
#[inline]
pub(super) fn random(state: State) -> u32 {
    state[4] & 0x7fff_ffff
}

/// Returns the digest of a few words in big-endian order: the words, the end mark and the length fit one block.
#[inline]
fn digest<const WORDS: usize>(message: [u32; WORDS]) -> State {
    const { assert!(WORDS <= 13) };
    let mut block = [0; 64];
    for (bytes, word) in block.chunks_exact_mut(4).zip(message) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    block[4 * WORDS] = 0x80;
    block[56..].copy_from_slice(&(32 * WORDS as u64).to_be_bytes());
    let mut state = INITIAL;
    compress(&mut state, &[block]);
    state
}

#[cfg(test)]
mod tests {
    use super::digest;

    /// FIPS 180's example "abc" is not a whole number of words; the tests use SHA-1 of "abcd" and of 20 zero bytes.
    #[test]
    fn is_sha1() {
        assert_eq!(
            digest([u32::from_be_bytes(*b"abcd")]),
            [0x81fe_8bfe, 0x8757_6c3e, 0xcb22_426f, 0x8e57_8473, 0x8291_7acf]
        );
        assert_eq!(digest([0; 5]), [0x6768_033e, 0x2164_6824, 0x7bd0_31a0, 0xa2d9_876d, 0x7981_8f8f]);
    }
}
