//! Load by other processes during a measurement: figures from a busy machine are worth
//! little, above all with as many workers as processors.

use std::{fs, thread};

/// Processor time so far, in ticks.
#[derive(Clone, Copy)]
pub struct Ticks {
    /// Of all processors together, idle or not.
    all: f64,
    /// Spent by all processes, and by the hypervisor's other guests.
    busy: f64,
    /// Spent by this process and its ended children.
    own: f64,
}

impl Ticks {
    /// Returns the current times; `None` if `/proc` does not have them.
    pub fn now() -> Option<Self> {
        let machine = fs::read_to_string("/proc/stat").ok()?;
        let process = fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&machine, &process)
    }

    fn parse(machine: &str, process: &str) -> Option<Self> {
        // user nice system idle iowait irq softirq steal; guests are part of user.
        let line = machine.lines().next()?.strip_prefix("cpu ")?;
        let times: Vec<f64> = line.split_whitespace().take(8).filter_map(|time| time.parse().ok()).collect();
        let idle = times.get(3)? + times.get(4)?;
        let all = times.iter().sum();
        // The command name, second field, may hold blanks but ends at the last ")";
        // utime, stime, cutime and cstime are fields 14 to 17.
        let (_, rest) = process.rsplit_once(')')?;
        let own = rest.split_whitespace().skip(11).take(4).filter_map(|time| time.parse::<f64>().ok()).sum();
        Some(Self { all, busy: all - idle, own })
    }

    /// Returns how many processors other processes have kept busy on average since
    /// `self`.
    pub fn others_since(&self) -> Option<f64> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Some(self.others_until(&Self::now()?, processors))
    }

    fn others_until(&self, end: &Self, processors: usize) -> f64 {
        let others = (end.busy - self.busy) - (end.own - self.own);
        let elapsed = (end.all - self.all) / processors.max(1) as f64;
        if elapsed > 0.0 { (others / elapsed).max(0.0) } else { 0.0 }
    }
}

/// Returns the line of a report about `others` processors that other processes kept busy, if that is worth one.
pub fn note(others: f64) -> Option<String> {
    let text = || format!("note: other work kept {others:.2} processors busy meanwhile; repeat on a quiet machine\n");
    (others > 0.05).then(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_used_the_rest_of_the_busy_time() {
        let process = |own: u32| format!("7 (a b) c) S 1 1 1 0 -1 0 0 0 0 0 {own} 0 0 0 20 0");
        let start = Ticks::parse("cpu 100 0 0 100 0 0 0 0 0 0\n", &process(50)).unwrap();
        let end = Ticks::parse("cpu 250 0 0 150 0 0 0 0 0 0\n", &process(150)).unwrap();
        // 200 ticks on 2 processors: 150 busy, including 100 by this process.
        assert!((start.others_until(&end, 2) - 0.5).abs() < 1e-9);
    }
}
