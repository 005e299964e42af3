//! Iteration over the set bits of a word.

/// An iterator over the positions of the set bits of a word, lowest first.
///
/// Its state is one word by value, so a task that iterates over it can move it into the task's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits(pub(crate) u64);

impl Iterator for Bits {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let position = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(position)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn visits_every_bit_once_from_below() {
        assert_eq!(Bits(0).next(), None);
        assert_eq!(Bits(0b1011).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(Bits(u64::MAX).count(), 64);
        assert_eq!(Bits(1 << 63 | 1).size_hint(), (2, Some(2)));
    }
}
