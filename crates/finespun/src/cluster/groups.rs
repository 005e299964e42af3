//! Groups over several processes.
//!
//! A group begins in one process, its *home*. A process that receives a message of a group that it does not know joins
//! it, as a group of its own within the run, and says so to the home. The home tells the processes that know the group
//! when it is terminated, alone or with a group around it, and when it ends.

use std::collections::HashMap;

use super::Cluster;
use super::control::Control;
use crate::atomics::lock_std as lock;
use crate::cancel::teams::GroupName;
use crate::frame::number::{GROUPS, index_of};
use crate::run::release::end_group;
use crate::sched::team::Team;

/// The groups that more than one process knows.
#[derive(Default)]
pub(super) struct SharedGroups {
    /// The groups of other processes that are known here, with their numbers here, and the reverse.
    joined: HashMap<GroupName, u32>,
    names: HashMap<u32, GroupName>,
    /// By number and use count: the processes that know a group of this process.
    shared: HashMap<(u32, u64), Vec<u32>>,
}

impl SharedGroups {
    /// Ends the groups of other processes that belong to a run, which has ended here.
    pub(super) fn end_run(&mut self, team: &Team, run: u32) {
        let left = self.joined.extract_if(|_, number| team.groups.get(*number).run() == run);
        let left: Vec<_> = left.map(|(_, number)| number).collect();
        left.into_iter().for_each(|number| self.end(team, number));
    }

    /// Ends a group of another process here, which has been removed from `joined`.
    fn end(&mut self, team: &Team, number: u32) {
        self.names.remove(&number);
        // No other process knows it by this number.
        let _ = end_group(&team.groups, number);
    }
}

impl Cluster {
    pub(super) fn group_name(&self, team: &Team, number: u32) -> GroupName {
        let joined = lock(&self.state).groups.names.get(&number).copied();
        joined.unwrap_or_else(|| {
            let group = team.groups.get(number);
            let uses = group.uses();
            // False only for work that a forged message has begun, and that has outlasted the group.
            let _live = group.share(uses);
            self.name_of_own(number, uses)
        })
    }

    pub(super) fn join_group(&self, team: &Team, run: u32, name: GroupName) -> Option<u32> {
        if name.home == self.shape.rank as u32 {
            let number = team.id.group(name.index % GROUPS);
            // A group that has ended is not shared.
            let group = team.groups.find(number).filter(|group| group.run() == run && group.share(name.uses));
            return group.map(|_| number);
        }
        if name.home >= self.shape.processes as u32 {
            return None;
        }
        let mut state = lock(&self.state);
        let groups = &mut state.groups;
        if let Some(&number) = groups.joined.get(&name) {
            return Some(number);
        }
        // Under the lock: the end of the run takes what is joined.
        let joined_run = team.find_run(run)?;
        let number = team.id.group(team.groups.begin(run, run, 1));
        let group = team.groups.get(number);
        let begun = group.share(group.uses());
        debug_assert!(begun, "no other thread knows the number");
        groups.joined.insert(name, number);
        groups.names.insert(number, name);
        drop(state);
        self.send(name.home as usize, &Control::JoinGroup { run: joined_run.name, group: name });
        Some(number)
    }

    /// At the home of a group: another process knows it.
    pub(super) fn share_group(&self, team: &Team, process: usize, run: u32, name: GroupName) {
        let number = team.id.group(name.index % GROUPS);
        let mut state = lock(&self.state);
        if name.home != self.shape.rank as u32 || state.groups.names.contains_key(&number) {
            return;
        }
        let group = team.groups.find(number).filter(|group| group.share(name.uses));
        let Some(group) = group else {
            let live = state.runs.live.get(&run).cloned();
            drop(state);
            match live {
                Some(run) if !run.is_cancelled() => self.send(process, &Control::EndGroup { group: name }),
                // As in `group_ended`.
                Some(_) => {}
                None => self.end_unknown(team, process, run),
            }
            return;
        };
        let processes = state.groups.shared.entry((number, name.uses)).or_default();
        if !processes.contains(&(process as u32)) {
            processes.push(process as u32);
        }
        // Under the lock: if the group is terminated later, `terminated` finds the process.
        let terminated = team.groups.is_terminated(group, |run| team.run_cancelled(run));
        drop(state);
        if terminated {
            self.send(process, &Control::TerminateGroup { group: name });
        }
    }

    /// The home of a group that is known here has terminated it.
    pub(super) fn terminate_group(&self, team: &Team, group: GroupName) {
        let state = lock(&self.state);
        let Some(&number) = state.groups.joined.get(&group) else { return };
        // Under the lock, which keeps the number from being used again.
        let first = team.groups.terminate(number);
        let told = self.beneath(&state.groups, team, number);
        drop(state);
        if first {
            team.sweep();
            self.tell_terminated(told);
        }
    }

    /// The home of a group that is known here has ended it.
    pub(super) fn end_group(&self, team: &Team, group: GroupName) {
        let groups = &mut lock(&self.state).groups;
        if let Some(number) = groups.joined.remove(&group) {
            groups.end(team, number);
        }
    }

    pub(super) fn terminated(&self, team: &Team, group: u32) {
        let told = self.beneath(&lock(&self.state).groups, team, group);
        self.tell_terminated(told);
    }

    pub(super) fn group_ended(&self, team: &Team, run: u32, number: u32, uses: u64) {
        let processes = lock(&self.state).groups.shared.remove(&(number, uses)).unwrap_or_default();
        // A group of a cancelled run does not wait for its answers, so its frames may be left elsewhere, where it ends with
        // the run.
        if team.find_run(run).is_none_or(|run| run.is_cancelled()) {
            return;
        }
        let group = self.name_of_own(number, uses);
        processes.into_iter().for_each(|to| self.send(to as usize, &Control::EndGroup { group }));
    }

    /// Returns the groups of this process at or beneath `group` that other processes know, with those processes.
    fn beneath(&self, groups: &SharedGroups, team: &Team, group: u32) -> Vec<(GroupName, Vec<u32>)> {
        let uses = team.groups.get(group).uses();
        let beneath = groups.shared.iter().filter(|((number, _), _)| team.groups.is_beneath(*number, group, uses));
        beneath.map(|(&(number, uses), to)| (self.name_of_own(number, uses), to.clone())).collect()
    }

    fn tell_terminated(&self, groups: Vec<(GroupName, Vec<u32>)>) {
        for (group, processes) in groups {
            processes.into_iter().for_each(|to| self.send(to as usize, &Control::TerminateGroup { group }));
        }
    }

    fn name_of_own(&self, number: u32, uses: u64) -> GroupName {
        GroupName { home: self.shape.rank as u32, index: index_of(number), uses }
    }
}
