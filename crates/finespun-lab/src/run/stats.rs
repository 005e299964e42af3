//! The counters of a run in words, and what stands out.

use finespun::Stats;

use crate::show;

/// Steals in vain for each frame found, above which workers had little to do.
const VAIN: u64 = 50;
/// Frames below which it does not matter why they were made.
const FEW: u64 = 10_000;

/// Formats each counter that is not 0 with what it counts, the names of the others, and what stands out for a run on this many
/// workers.
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

/// Returns what a reader would want to know, and might not see.
fn remarks(stats: &Stats, workers: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    let many = |count| show::thousands(count);
    let messages = stats.messages_own + stats.messages_pushed + stats.messages_pulled;
    if workers > 1 && stats.steals == 0 && messages == 0 && stats.acquisitions == 0 {
        remarks.push(
            "no worker took work from another: the program offered nothing to share, or ended before others woke"
                .to_owned(),
        );
    } else if workers > 1 && stats.failed_steals > VAIN * (stats.steals + 1) {
        remarks.push(format!(
            "workers looked for work {} times in vain and found some {} times: for most of the run there was too little for all",
            many(stats.failed_steals),
            many(stats.steals)
        ));
    }
    // Of the others, one is made for each fallback.
    let begun = stats.frames.saturating_sub(stats.fallbacks);
    if begun > FEW && begun > stats.fallbacks {
        remarks.push(format!(
            "{} of {} frames were made at the beginning of a call, not because it had to wait: calls of pinned tasks, spawned \
             tasks, or closures. The documentation of a task says whether it is pinned, why, and the cure",
            many(begun),
            many(stats.frames)
        ));
    }
    if stats.stack_limits > 0 {
        remarks.push(format!(
            "the stack was nearly used up {} times, and the recursion went on in the heap: it is deep",
            many(stats.stack_limits)
        ));
    }
    if stats.messages_held > messages / 10 {
        remarks.push(format!(
            "{} of {} messages waited at their senders: receivers are behind",
            many(stats.messages_held),
            many(messages)
        ));
    }
    if stats.groups_uncoded > 0 {
        remarks.push(format!(
            "{} groups have no range code, and ending them searches all frames: they are nested too deeply",
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
        assert!(text.contains("\nNote: 12,342 of 12,345 frames were made at the beginning"), "{text}");
    }

    #[test]
    fn what_stands_out_is_said() {
        for (set, workers, said) in [
            ((|_| {}) as fn(&mut Stats), 2, "no worker took work"),
            (|stats| (stats.steals, stats.failed_steals) = (3, 1000), 2, "1,000 times in vain and found some 3 times"),
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
    }
}
