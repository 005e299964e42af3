//! Groups of activities: that they begin, end and are ended together.

mod barriers;
mod ends;
mod levels;
mod loops;
mod nodes;
mod policies;
mod strays;

use crate::common::{BLOCK, WORKERS, cases};
use finespun::Runtime;
use finespun::group::{Members, Policy};

/// As [`common::everywhere`], with both ways to find the members of a group that is ended, and all ways in which activities
/// come to the workers.
pub fn everywhere(test: impl Fn(&Runtime)) {
    let members = [Members::BottomUp, Members::RangeCodes];
    let policies = [Policy::Steal, Policy::Global, Policy::Envelopes, Policy::Representatives];
    for [n, policy, workers, by] in cases([BLOCK.len(), policies.len(), WORKERS.len(), members.len()]) {
        let (n, policy, workers, members) = (BLOCK[n], policies[policy], WORKERS[workers], members[by]);
        let runtime = Runtime::builder().workers(workers).block_every(n).members(members).policy(policy);
        let runtime = runtime.build().unwrap();
        test(&runtime);
        let how = format!("{workers} workers, block every {n}, {members:?}, {policy:?}");
        assert_eq!(runtime.close(), 0, "frames left: {how}");
    }
}
