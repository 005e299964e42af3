//! Control groups: the share of the processors, and the memory, that this process's groups leave it.
//!
//! A limit may be set at the process's own group or at any group above it, and the least one applies. Version 2 has one
//! tree and `cpu.max`; version 1 has a tree per controller, and `cpu.cfs_quota_us` over `cpu.cfs_period_us`. A machine
//! may have both.

use super::Read;

/// A limit on processor time.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// The limit, in cores.
    pub cores: f64,
    /// The file that sets it.
    pub file: String,
}

/// Returns the least quota on processor time, or `None` without one.
pub fn cpu_quota(read: Read<'_>) -> Option<Quota> {
    let mut quotas = Vec::new();
    for (version, folder) in folders(read, "cpu") {
        let found = match version {
            Version::One => ratio(read, &folder).map(|cores| (cores, "cpu.cfs_quota_us")),
            Version::Two => maximum(read, &folder).map(|cores| (cores, "cpu.max")),
        };
        quotas.extend(found.map(|(cores, file)| Quota { cores, file: format!("{folder}/{file}") }));
    }
    quotas.into_iter().min_by(|a, b| a.cores.total_cmp(&b.cores))
}

/// Returns the least limit on memory in bytes, or `None` without one.
pub fn memory_limit(read: Read<'_>) -> Option<u64> {
    let limits = folders(read, "memory").into_iter().filter_map(|(version, folder)| {
        let file = match version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        read(&format!("{folder}/{file}"))?.trim().parse::<u64>().ok()
    });
    // Version 1 writes "no limit" as the greatest number of pages.
    limits.filter(|&limit| limit < 1 << 62).min()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    One,
    Two,
}

/// Reads version 1: microseconds of quota per period, -1 for none.
fn ratio(read: Read<'_>, folder: &str) -> Option<f64> {
    let number = |file: &str| read(&format!("{folder}/{file}"))?.trim().parse::<f64>().ok();
    let quota = number("cpu.cfs_quota_us").filter(|&quota| quota > 0.0)?;
    number("cpu.cfs_period_us").filter(|&period| period > 0.0).map(|period| quota / period)
}

/// Reads version 2: quota and period in one file, `max` for none.
fn maximum(read: Read<'_>, folder: &str) -> Option<f64> {
    let text = read(&format!("{folder}/cpu.max"))?;
    let mut words = text.split_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next().map_or(Some(100_000.0), |period| period.parse().ok())?;
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Returns the folders of this process's group and of all groups above it, for every version that has the controller.
fn folders(read: Read<'_>, controller: &str) -> Vec<(Version, String)> {
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let mounts = read("/proc/self/mountinfo").unwrap_or_default();
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let version = match controllers {
            "" => Version::Two,
            list if list.split(',').any(|name| name == controller) => Version::One,
            _ => continue,
        };
        if let Some((root, mount)) = mounted(&mounts, version, controller) {
            // A container may see only a part of the tree.
            let below = group.strip_prefix(root.trim_end_matches('/')).unwrap_or(group);
            folders.extend(upwards(mount, below).map(|folder| (version, folder)));
        }
    }
    folders
}

/// Returns the mount of the tree of this version and controller: the mounted part of the tree, and the folder.
fn mounted<'m>(mounts: &'m str, version: Version, controller: &str) -> Option<(&'m str, &'m str)> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut kind = kind.split(' ');
        let wanted = match (version, kind.next()?) {
            (Version::Two, "cgroup2") => true,
            (Version::One, "cgroup") => kind.nth(1)?.split(',').any(|option| option == controller),
            _ => false,
        };
        wanted.then_some((place.next()?, place.next()?))
    })
}

/// Returns `mount/a/b`, `mount/a`, `mount` for the group `/a/b`.
fn upwards(mount: &str, group: &str) -> impl Iterator<Item = String> {
    let mut next = Some(group.trim_matches('/').to_owned());
    std::iter::from_fn(move || {
        let current = next.take()?;
        if !current.is_empty() {
            next = Some(current.rsplit_once('/').map_or(String::new(), |(above, _)| above.to_owned()));
        }
        Some(current)
    })
    .map({
        let mount = mount.to_owned();
        move |group| format!("{mount}/{group}").trim_end_matches('/').to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::{cpu_quota, memory_limit};

    /// A machine with these files and no others.
    fn machine(files: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |path| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
    }

    #[test]
    fn version_two_takes_the_least_limit_up_to_the_root() {
        let read = machine(&[
            ("/proc/self/cgroup", "0::/user/app\n"),
            ("/proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n"),
            ("/sys/fs/cgroup/user/app/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/user/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/user/app/memory.max", "1073741824\n"),
            ("/sys/fs/cgroup/user/memory.max", "max\n"),
        ]);
        let quota = cpu_quota(&read).expect("a quota");
        assert_eq!((quota.cores, quota.file.as_str()), (1.5, "/sys/fs/cgroup/user/cpu.max"));
        assert_eq!(memory_limit(&read), Some(1 << 30));
    }

    #[test]
    fn version_one_is_read_in_a_container() {
        let read = machine(&[
            ("/proc/self/cgroup", "4:memory:/docker/1f\n1:cpu,cpuacct:/docker/1f\n0::/\n"),
            (
                "/proc/self/mountinfo",
                "32 31 0:29 /docker/1f /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                 35 31 0:32 /docker/1f /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            ),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(cpu_quota(&read).map(|quota| quota.cores), Some(0.5));
        assert_eq!(memory_limit(&read), None);
    }

    #[test]
    fn missing_quotas_and_files_give_none() {
        let read = machine(&[
            ("/proc/self/cgroup", "1:cpu:/\n0::/\n"),
            ("/proc/self/mountinfo", "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(cpu_quota(&read), None);
        assert_eq!(cpu_quota(&|_| None), None);
        assert_eq!(memory_limit(&|_| None), None);
        assert_eq!(cpu_quota(&|_| Some("nonsense : - \n\n::::".to_owned())), None);
    }
}
