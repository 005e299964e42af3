//! A limit for the time of a test.

/// Runs `body` on its own thread and panics if it takes longer than a minute, so that a hang fails the test; ten minutes
/// under a sanitizer. The message says which threads run and which sleep.
pub fn within_a_minute(body: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        body();
        let _ = done.send(());
    });
    let patience = std::time::Duration::from_secs(if cfg!(sanitized) { 600 } else { 60 });
    if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = wait.recv_timeout(patience) {
        panic!("still running after {patience:?}; state and processor time of the threads:{}", threads());
    }
    if let Err(payload) = thread.join() {
        std::panic::resume_unwind(payload);
    }
}

/// Returns a line per thread of this process: its name, its state, and the clock ticks that it has run.
fn threads() -> String {
    let stat = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("stat")).ok();
    let line = |stat: String| {
        let (head, tail) = stat.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = tail.split_whitespace().collect();
        Some(format!("\n  {head}: {}, {} + {}", fields[0], fields[11], fields[12]))
    };
    std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(stat).filter_map(line).collect()
}
