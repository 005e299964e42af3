//! Range codes: each group of a run has a range of numbers, and the groups beneath it have ranges within that range.
//!
//! A run has the whole range of 64-bit numbers, divided into a fixed number of parts. A group's range is divided by the
//! number of its activities; each group that begins beneath it takes one of the parts and gives it back when it ends
//! [M §6.2]. An activity has one nested group at a time, unless it joins several, so one part per activity is usually
//! enough. A group gets no code if its parent has no part left or has a range too narrow to divide, which with k
//! activities in each group happens at a depth of about 64 / log2(k). Groups beneath a group without a code have no
//! code either, and whether they are in a terminated subtree is found bottom up.

/// A range of numbers, both ends included. A range with `from > to` is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Code {
    /// The code of a run.
    pub(super) const WHOLE: Code = Code { from: 0, to: u64::MAX };
    /// No code.
    pub(super) const NONE: Code = Code { from: 1, to: 0 };

    pub(super) fn is_none(self) -> bool {
        self.from > self.to
    }

    /// Returns whether the group with this code is the group with the `other` code, or beneath it.
    pub(super) fn is_within(self, other: Code) -> bool {
        !self.is_none() && other.from <= self.from && self.to <= other.to
    }
}

/// The parts of a group's range, for groups that begin beneath it.
#[derive(Default)]
pub(super) struct Parts {
    from: u64,
    /// The width of each part; 0 if the range has no parts.
    width: u64,
    parts: u64,
    /// The first part that has never been taken.
    next: u64,
    /// Parts that have been given back.
    free: Vec<u64>,
}

impl Parts {
    /// Divides the range of a group of `activities` activities, with all parts free.
    pub(super) fn begin(&mut self, code: Code, activities: u64) {
        let parts = activities.max(2);
        let width = if code.is_none() { 0 } else { (code.to - code.from) / parts };
        self.free.clear();
        (self.from, self.width, self.parts, self.next) = (code.from, width, parts, 0);
    }

    /// Takes a part; returns [`Code::NONE`] if none is left.
    pub(super) fn take(&mut self) -> Code {
        if self.width == 0 {
            return Code::NONE;
        }
        let part = match self.free.pop() {
            Some(part) => part,
            None if self.next < self.parts => {
                self.next += 1;
                self.next - 1
            }
            None => return Code::NONE,
        };
        self.part(part)
    }

    /// Gives a part back. A code that is no part of this range is ignored: a group that a forged message has begun may end
    /// after the group around it, whose record has another range then.
    pub(super) fn give_back(&mut self, code: Code) {
        let part = code.from.checked_sub(self.from).and_then(|distance| distance.checked_div(self.width));
        if let Some(part) = part.filter(|part| *part < self.next && self.part(*part) == code) {
            self.free.push(part);
        }
    }

    fn part(&self, part: u64) -> Code {
        let from = self.from + part * self.width;
        Code { from, to: from + (self.width - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_within() {
        let mut parts = Parts::default();
        parts.begin(Code::WHOLE, 1000);
        let taken: Vec<Code> = (0..1000).map(|_| parts.take()).collect();
        assert!(parts.take().is_none());
        for (k, code) in taken.iter().enumerate() {
            assert!(code.is_within(Code::WHOLE) && code.from < code.to);
            assert!(taken.iter().enumerate().all(|(other, with)| k == other || !code.is_within(*with)));
        }
        parts.give_back(taken[17]);
        assert_eq!(parts.take(), taken[17]);
        assert!(parts.take().is_none());
        for other in [Code::WHOLE, Code::NONE, Code { from: taken[1].from + 1, to: taken[1].to }, taken[999]] {
            let mut parts = Parts::default();
            parts.begin(taken[0], 4);
            parts.give_back(other);
            assert_eq!(parts.take().from, taken[0].from, "not the part of another range");
            parts.give_back(other);
            assert_eq!(parts.take().from, taken[0].from + parts.width);
        }
    }

    /// The paper: "With 64-bit words, 6 levels of a thousand and 64 levels of two." Rounding the widths down costs the
    /// last level of two.
    #[test]
    fn depth_of_nesting_matches_the_paper() {
        let depth = |activities| {
            let mut code = Code::WHOLE;
            let mut levels = 0;
            loop {
                let mut parts = Parts::default();
                parts.begin(code, activities);
                code = parts.take();
                if code.is_none() {
                    return levels;
                }
                levels += 1;
            }
        };
        assert_eq!(depth(1000), 6);
        assert_eq!(depth(2), 63);
        assert_eq!(depth(u64::MAX), 1);
    }

    #[test]
    fn no_code_is_within_no_range_and_has_no_parts() {
        assert!(!Code::NONE.is_within(Code::WHOLE));
        let mut parts = Parts::default();
        parts.begin(Code::NONE, 8);
        assert!(parts.take().is_none());
        parts.give_back(Code::NONE);
    }
}
