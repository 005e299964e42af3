//! Groups of activities: how they begin, end, and are terminated.

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
use finespun::testing::*;

/// Like [`common::everywhere`], with both ways to find the members of a terminated group, and with all policies that
/// distribute activities to workers.
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
