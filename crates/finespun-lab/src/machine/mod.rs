//! The resources that this machine gives to a process.
//!
//! Reads the system's files and never changes anything, except for one short-lived thread that tries to bind itself to
//! a core. Unknown values are `None` or an empty list, never an error: not every system has these files. Readers take
//! the files as a function from path to text, so that the tests can present any machine.
//!
//! - `cores`: number, names and load of the cores, and whether a thread can be bound to one
//! - `cgroup`: control groups of both versions: processor quota and memory limit
//! - `memory`: available memory
//! - `tools`: programs on the search path

pub mod cgroup;
pub mod cores;
pub mod memory;
pub mod tools;

/// A function that returns the text of the file at a path.
pub type Read<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads a file of this machine.
pub fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Returns the soft limit on the main thread's stack in bytes; `u64::MAX` for none.
pub fn stack_limit(read: Read<'_>) -> Option<u64> {
    let limits = read("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max stack size"))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        bytes => bytes.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::stack_limit;

    #[test]
    fn stack_limits_are_parsed() {
        let limits = |value: &str| {
            let text = format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax stack size            {value}    unlimited   bytes\n"
            );
            stack_limit(&|path| (path == "/proc/self/limits").then(|| text.clone()))
        };
        assert_eq!(limits("8388608"), Some(8 << 20));
        assert_eq!(limits("unlimited"), Some(u64::MAX));
        assert_eq!(limits("?"), None);
        assert_eq!(stack_limit(&|_| None), None);
    }
}
