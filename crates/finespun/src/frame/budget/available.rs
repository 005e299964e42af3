//! The amount of memory that this process may use.

/// Returns the minimum of the machine's memory, the limits of the process's control groups (version 1 and 2, and their
/// ancestors), and half of the space left below the address-space limit. `None` if the system reports no value.
pub(super) fn memory() -> Option<usize> {
    [physical(), control_groups(), address_space()].into_iter().flatten().min()
}

#[cfg(unix)]
fn physical() -> Option<usize> {
    // SAFETY: `sysconf` takes and returns numbers only.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).ok()?.checked_mul(usize::try_from(size).ok()?).filter(|&bytes| bytes > 0)
}

#[cfg(not(unix))]
fn physical() -> Option<usize> {
    None
}

/// Returns half of the address space left below the process's limit. The other half is for stacks and libraries, and
/// because an aligned region takes up to twice its size.
#[cfg(unix)]
fn address_space() -> Option<usize> {
    Some(address_space_left()? / 2)
}

/// Returns the address space left below the process's limits, if it has one: of all of it, or of private writable memory.
#[cfg(unix)]
pub(super) fn address_space_left() -> Option<usize> {
    // SAFETY: the limit is valid for writing.
    let all = left(|limit| unsafe { libc::getrlimit(libc::RLIMIT_AS, limit) }, 0);
    // SAFETY: as above.
    let writable = left(|limit| unsafe { libc::getrlimit(libc::RLIMIT_DATA, limit) }, 5);
    all.into_iter().chain(writable).min()
}

/// Returns what is left of a limit in bytes, if it is one. `field` is the number of the field of `statm` that it limits.
#[cfg(unix)]
fn left(get: impl FnOnce(&mut libc::rlimit) -> libc::c_int, field: usize) -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let said = get(&mut limit);
    let limit =
        (said == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then(|| usize::try_from(limit.rlim_cur).ok())??;
    Some(limit.saturating_sub(mapped(field).unwrap_or(limit / 2)))
}

/// Returns a field of the process's sizes, in bytes.
#[cfg(unix)]
fn mapped(field: usize) -> Option<usize> {
    // SAFETY: `sysconf` takes and returns numbers only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages = sizes.split_whitespace().nth(field)?.parse::<usize>().ok()?;
    pages.checked_mul(usize::try_from(page).ok()?)
}

#[cfg(not(unix))]
fn address_space() -> Option<usize> {
    None
}

#[cfg(not(unix))]
pub(super) fn address_space_left() -> Option<usize> {
    None
}

#[cfg(target_os = "linux")]
fn control_groups() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    least_limit(&read("/proc/self/cgroup")?, read)
}

#[cfg(not(target_os = "linux"))]
fn control_groups() -> Option<usize> {
    None
}

/// Returns the least limit of the groups that `/proc/self/cgroup` names, and of their ancestors. In a container the
/// mounted tree may begin at the process's own group: then the path does not exist, and the root of the tree has the
/// limit.
#[cfg(any(target_os = "linux", test))]
fn least_limit(groups: &str, read: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let mut least = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            // Version 2's `max` does not parse as a number; version 1 expresses no limit as a number larger than any
            // memory.
            let limit = read(&format!("{root}{path}/{file}")).and_then(|text| text.trim().parse::<usize>().ok());
            least = [least, limit].into_iter().flatten().min();
            let Some(above) = path.rfind('/') else { break };
            path = &path[..above];
        }
    }
    least
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{least_limit, memory};

    fn of(files: &[(&str, &str)], groups: &str) -> Option<usize> {
        least_limit(groups, |path| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned()))
    }

    #[test]
    fn control_groups_of_both_versions_limit_memory() {
        let two = [("/sys/fs/cgroup/a/b/memory.max", "max\n"), ("/sys/fs/cgroup/a/memory.max", "5000\n")];
        assert_eq!(of(&two, "0::/a/b\n"), Some(5000));
        let one = [
            ("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "700\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(of(&one, "8:pids:/\n4:cpu,memory:/x\n0::/\n"), Some(700));
        // A container that sees its own group as the root.
        assert_eq!(of(&[("/sys/fs/cgroup/memory.max", "64\n")], "0::/elsewhere/deep\n"), Some(64));
        assert_eq!(of(&[], "0::/\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_machine_has_memory() {
        assert!(memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
