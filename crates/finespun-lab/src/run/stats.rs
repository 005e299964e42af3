//! The counters of a run in words, and remarks on those that stand out.

use finespun::Stats;

use crate::show;

/// Searches in vain for each steal, above which workers had little to do.
const VAIN: u64 = 50;
/// Frames below which it does not matter why they were made.
const FEW: u64 = 10_000;

/// Formats each counter that is not 0 with its meaning, the names of the others, and remarks on a run on `workers` workers.
pub fn explained(stats: &Stats, workers: usize) -> String {
    let words = |name: &str| name.replace('_', " ");
    let mut lines = String::new();
    let mut zero = Vec::new();
    for ((name, count), meaning) in stats.entries().into_iter().zip(Stats::meanings()) {
        match count {
            0 => zero.push(words(name)),
            _ => lines += &format!("{:<16} {:>15}  {meaning}\n", words(name), show::thousands(count)),
        }
    }
    if !zero.is_empty() {
        lines += &format!("0: {}\n", zero.join(", "));
    }
    remarks(stats, workers).iter().for_each(|remark| lines += &format!("Note: {remark}\n"));
    lines
}

/// Returns remarks on counters that stand out. Each says only what the counters show.
fn remarks(stats: &Stats, workers: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    let many = |count| show::thousands(count);
    let messages = stats.messages_own + stats.messages_pushed + stats.messages_pulled;
    // A worker that waits for messages, or takes activities from a shared list, also looks for frames to steal.
    if workers > 1 && messages == 0 && stats.acquisitions == 0 {
        if stats.steals == 0 {
            remarks.push(
                "no worker took work from another: the program offered nothing to share, or ended before others woke"
                    .to_owned(),
            );
        } else if stats.failed_steals > VAIN * stats.steals {
            remarks.push(format!(
                "workers looked for work {} times in vain, and took some {} times: often too little was left for all",
                many(stats.failed_steals),
                many(stats.steals)
            ));
        }
    }
    // A call that waits for a message makes a frame for its continuation; one that waits on the stack makes a fallback, too.
    if messages == 0 && stats.frames > FEW && stats.fallbacks < stats.frames / 10 {
        remarks.push(format!(
            "of {} frames, only {} are calls that began on the stack and had to wait: the others are pinned calls, spawned \
             tasks, branches for thieves, or continuations. The documentation of a task says whether it is pinned, why, and \
             the cure",
            many(stats.frames),
            many(stats.fallbacks)
        ));
    }
    if stats.stack_limits > 0 {
        remarks.push(format!(
            "the stack was nearly used up {} times, and the recursion went on in the heap: it is deep",
            many(stats.stack_limits)
        ));
    }
    if messages > 0 && stats.messages_held > messages / 10 {
        remarks.push(format!(
            "{} of {} messages waited at their senders: receivers are behind",
            many(stats.messages_held),
            many(messages)
        ));
    }
    if stats.groups_uncoded > 0 {
        remarks.push(format!(
            "{} groups got no range code, since all were in use: whether a frame is in one takes a search (member steps)",
            many(stats.groups_uncoded)
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use finespun::Stats;

    use super::{explained, remarks};

    fn stats(set: impl FnOnce(&mut Stats)) -> Stats {
        let mut stats = Stats::default();
        set(&mut stats);
        stats
    }

    #[test]
    fn counters_are_explained() {
        let text = explained(&stats(|stats| (stats.frames, stats.fallbacks) = (12_345, 3)), 1);
        assert!(
            text.contains("frames                    12,345  Frames made: fallbacks, promoted branches, spawned"),
            "{text}"
        );
        assert!(text.contains("\n0: frame bytes, resumptions"), "{text}");
        assert!(text.contains("\nNote: of 12,345 frames, only 3 are calls that began on the stack"), "{text}");
    }

    #[test]
    fn what_stands_out_is_said() {
        for (set, workers, said) in [
            ((|_| {}) as fn(&mut Stats), 2, "no worker took work"),
            (|stats| (stats.steals, stats.failed_steals) = (3, 1000), 2, "1,000 times in vain, and took some 3 times"),
            (|stats| stats.stack_limits = 2, 1, "nearly used up 2 times"),
            (|stats| (stats.messages_own, stats.messages_held) = (100, 11), 1, "11 of 100 messages"),
            (|stats| stats.groups_uncoded = 1, 1, "no range code"),
        ] {
            let found = remarks(&stats(set), workers);
            assert!(found.len() == 1 && found[0].contains(said), "{found:?}");
        }
    }

    #[test]
    fn an_ordinary_run_needs_no_remark() {
        let ordinary =
            stats(|stats| (stats.frames, stats.fallbacks, stats.steals, stats.failed_steals) = (90, 60, 30, 100));
        assert!(remarks(&ordinary, 2).is_empty() && remarks(&Stats::default(), 1).is_empty());
        // Each call of another node's object has a continuation: those frames have to be.
        let calls = |stats: &mut Stats| {
            (stats.frames, stats.fallbacks, stats.messages_own) = (594_417, 40_623, 147_529);
            stats.failed_steals = 811;
        };
        assert!(remarks(&stats(calls), 2).is_empty());
    }
}
