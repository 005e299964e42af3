//! Memory of the machine.

use super::{Read, cgroup, read};

/// Returns the bytes that a new process can get: the system's available memory, limited by the control groups.
pub fn available() -> Option<u64> {
    available_by(&read)
}

fn available_by(read: Read<'_>) -> Option<u64> {
    let info = read("/proc/meminfo")?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let free = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.saturating_mul(1024);
    Some(cgroup::memory_limit(read).map_or(free, |limit| limit.min(free)))
}

/// Formats bytes in a suitable unit: `1.5 GiB`.
pub fn show(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::{available_by, show};

    #[test]
    fn memory_is_shown_in_a_suitable_unit() {
        for (bytes, text) in [(0, "0 bytes"), (1536, "1.5 KiB"), (8 << 20, "8.0 MiB"), (80 << 30, "80.0 GiB")] {
            assert_eq!(show(bytes), text);
        }
    }

    #[test]
    fn available_memory_is_read_from_meminfo() {
        let read =
            |path: &str| (path == "/proc/meminfo").then(|| "MemTotal: 9 kB\nMemAvailable:   2048 kB\n".to_owned());
        assert_eq!(available_by(&read), Some(2 << 20));
        assert_eq!(available_by(&|_| None), None);
    }
}
