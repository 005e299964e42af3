//! The numbers of runs and groups. Each frame stores the number of the one it belongs to.
//!
//! A number names its team (the upper bits), and within the team a run or a group (the lower bits, of which the highest
//! distinguishes the two).

/// The bits for a run or group within one team: 2^21 runs and as many groups can be under way at once.
const RUN_BITS: u32 = 22;
/// The bit that is set in the numbers of groups.
pub(crate) const GROUP: u32 = 1 << (RUN_BITS - 1);
/// The number of runs that a team can have at once, numbered from 0.
pub(crate) const RUNS: u32 = GROUP;
/// The number of groups that a team can have at once, numbered from [`GROUP`].
pub(crate) const GROUPS: u32 = GROUP;
/// The number of teams that a process can have at once. One less than the bits allow: the highest numbers belong to no
/// run and no group.
pub(crate) const TEAMS: usize = (1 << (32 - RUN_BITS)) - 1;
/// In place of a number: the code belongs to no run and no group.
pub(crate) const NOTHING: u32 = u32::MAX;

/// Returns the index of a run or group within its team.
pub(crate) const fn index_of(number: u32) -> u32 {
    number & (GROUP - 1)
}

/// Returns the index of the team of a run or group.
pub(crate) const fn team_of(number: u32) -> usize {
    (number >> RUN_BITS) as usize
}

/// Returns whether two runs or groups belong to one team.
pub(crate) fn same_team(a: u32, b: u32) -> bool {
    team_of(a) == team_of(b)
}

/// A team's index among the teams of the process.
pub(crate) struct TeamId(u32);

impl TeamId {
    /// Creates the id of the team with this index.
    pub(crate) fn new(index: usize) -> TeamId {
        debug_assert!(index < TEAMS);
        TeamId(index as u32)
    }

    /// Returns the team's index.
    pub(crate) fn index(&self) -> usize {
        self.0 as usize
    }

    /// Returns the number of run `index` of this team.
    pub(crate) fn run(&self, index: u32) -> u32 {
        debug_assert!(index < RUNS);
        self.0 << RUN_BITS | index
    }

    /// Returns the number of group `index` of this team.
    pub(crate) fn group(&self, index: u32) -> u32 {
        debug_assert!(index < GROUPS);
        self.0 << RUN_BITS | GROUP | index
    }
}
