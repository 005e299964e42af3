//! The processor cores.

use std::fs::DirEntry;
use std::thread;
use std::time::Duration;

use super::Read;

/// Returns the number of processors that are online.
pub fn online(read: Read<'_>) -> Option<usize> {
    count(&read("/sys/devices/system/cpu/online")?)
}

/// Returns the processors that this process may use, in the system's notation: `0-3,8`.
pub fn allowed(read: Read<'_>) -> Option<String> {
    let status = read("/proc/self/status")?;
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(|list| list.trim().to_owned())
}

/// Returns the number of processors in a list such as `0-3,8`.
pub fn count(list: &str) -> Option<usize> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    list.trim().split(',').try_fold(0, |sum, part| match part.split_once('-') {
        Some((first, last)) => Some(sum + (number(last)? + 1).checked_sub(number(first)?)?),
        None => number(part).map(|_| sum + 1),
    })
}

/// Returns the processor's name.
pub fn model(read: Read<'_>) -> Option<String> {
    let info = read("/proc/cpuinfo")?;
    let (_, name) = info.lines().find(|line| line.starts_with("model name"))?.split_once(':')?;
    Some(name.trim().to_owned())
}

/// Returns the number of threads that were ready to run, averaged over the last minute.
pub fn load(read: Read<'_>) -> Option<f64> {
    read("/proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

/// Returns the processor time of this process's live threads so far; 0 if the system does not report it.
pub fn processor_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = |thread: DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(threads.filter_map(nanoseconds).sum())
}

/// Returns the default number of workers of a runtime: the cores that this process may use, quotas included.
pub fn default_workers() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns true if a thread can bind itself to each core that it may run on, or `None` if the cores cannot be listed.
pub fn pinning() -> Option<bool> {
    let cores = core_affinity::get_core_ids()?;
    let bind = move || !cores.is_empty() && cores.into_iter().all(core_affinity::set_for_current);
    thread::spawn(bind).join().ok()
}

#[cfg(test)]
mod tests {
    use super::{allowed, count, load, model};

    #[test]
    fn lists_of_processors_are_counted() {
        for (list, cores) in
            [("0", Some(1)), ("0-3\n", Some(4)), ("0-1,4,8-15", Some(11)), ("", None), ("3-1", None), ("x-y", None)]
        {
            assert_eq!(count(list), cores, "{list}");
        }
    }

    #[test]
    fn system_files_are_parsed() {
        assert_eq!(allowed(&|_| Some("Name:\tx\nCpus_allowed_list:\t0-1\n".to_owned())), Some("0-1".to_owned()));
        assert_eq!(
            model(&|_| Some("processor\t: 0\nmodel name\t: A Processor\n".to_owned())),
            Some("A Processor".to_owned())
        );
        assert_eq!(load(&|_| Some("0.25 1.68 2.41 1/82 509\n".to_owned())), Some(0.25));
    }
}
