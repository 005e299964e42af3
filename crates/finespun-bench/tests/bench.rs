//! The benches as a person or a script uses them, at tiny sizes.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn finespun(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_finespun-bench"));
    command.args(line.strip_prefix("bench ").expect("a bench").split_whitespace());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Returns the standard output of a successful command.
fn output(line: &str) -> String {
    let output = finespun(line).output().expect("the command starts");
    assert!(output.status.success(), "{line}: {output:?}");
    // Only steps are reported.
    assert!(text(&output.stderr).lines().all(|step| step.starts_with("finespun: ")), "{line}: {output:?}");
    text(&output.stdout)
}

/// Returns the table, and the rows of the file that `--json` writes.
fn measured(line: &str) -> (String, Vec<Value>) {
    let words: Vec<_> = line.split_whitespace().collect();
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.json", words.join("_").replace('/', "_")));
    let table = output(&format!("{line} --json {}", file.display()));
    let figures: Value = serde_json::from_str(&fs::read_to_string(file).expect("figures")).expect("JSON");
    assert_eq!(figures["bench"], words[1]);
    (table, figures["rows"].as_array().expect("rows").clone())
}

fn installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs a command with an empty search path.
fn bare(line: &str) -> Output {
    finespun(line).env("PATH", "").output().expect("the command starts")
}

#[test]
fn every_public_bench_is_listed_and_count_is_hidden() {
    let list = output("bench --list");
    for name in [
        "apps",
        "instructions",
        "overheads",
        "suspended",
        "scaling",
        "transports",
        "invocation",
        "floors",
        "layouts",
        "microkernel",
        "parc",
        "pcm",
        "istructure",
    ] {
        assert!(list.lines().any(|line| line.starts_with(&format!("{name} "))), "{list}");
    }
    assert!(!list.contains("count "), "{list}");
}

#[test]
fn counted_programs_run_alone() {
    for program in ["fib-join", "list-tasks", "level-frame", "lock-tasks"] {
        assert_eq!(output(&format!("bench count --only {program} --rounds 3")), "");
    }
}

#[test]
fn instruction_counts_are_reproducible() {
    if !installed("valgrind") {
        return;
    }
    let line = "bench instructions --only fib-join,suspend";
    let (table, rows) = measured(line);
    assert!(table.contains("plain") && table.contains("limit"), "{table}");
    assert_eq!(rows.len(), 2);
    assert!(rows[0]["task"].as_f64() > rows[0]["plain"].as_f64(), "{rows:?}");
    assert_eq!(rows[1]["plain"], Value::Null);
    for (again, row) in measured(line).1.iter().zip(&rows) {
        let [again, first] = [again, row].map(|row| row["task"].as_f64().expect("a count"));
        assert!((again - first).abs() < 0.25, "{again} after {first}");
    }
}

#[test]
fn missing_valgrind_is_reported_with_its_cure() {
    let output = bare("bench instructions");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("apt-get install valgrind"), "{output:?}");
}

#[test]
fn primitives_are_timed_without_valgrind() {
    let output = bare("bench overheads --only primitives --quick --rounds 1");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let table = text(&output.stdout);
    assert!(table.contains("thread_create") && table.contains("apt-get install valgrind"), "{table}");
}

#[test]
fn sequential_programs_run_with_and_without_a_c_compiler() {
    let output = bare("bench overheads --only sequential --quick --rounds 1");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("Left out: C."), "{output:?}");
    if installed("gcc") {
        let (table, rows) = measured("bench overheads --only sequential --quick --rounds 1");
        assert!(!table.contains("Left out: C."), "{table}");
        assert_eq!(rows.len(), 6);
        assert!(rows[0]["C"]["min"].as_f64().is_some_and(|seconds| seconds > 0.0), "{rows:?}");
        assert_eq!(rows[0]["C"]["paper"], 1.1);
    }
}

#[test]
fn suspended_tasks_are_measured() {
    let (table, rows) = measured("bench suspended --quick --rounds 2");
    assert!(table.contains("1,000 tasks at the same time"), "{table}");
    assert!(rows.iter().all(|row| row["min"].as_f64().is_some() && row["tasks"] == 1000), "{rows:?}");
}

/// The bench itself compares the answers.
#[test]
fn floors_stand_beside_the_objects() {
    let (table, rows) = measured("bench floors --quick --rounds 2");
    assert!(table.contains("floor / plain"), "{table}");
    let names: Vec<_> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    let programs = ["sor-two-phase", "sor-red-black", "em3d-512", "em3d-4096", "mdforce", "protein-paths", "protein"];
    assert_eq!(names[..7], programs);
    for row in &rows[..7] {
        assert!(figure(row, "/floor_cost") > 0.0 && figure(row, "/bound") > 1.0, "{row}");
    }
    assert_eq!(names.len(), 11, "boxes and objects, each in new memory and again: {names:?}");
    for row in &rows[7..] {
        assert!(figure(row, "/make_ns") > 0.0 && figure(row, "/free_ns") > 0.0, "{row}");
    }
}

#[test]
fn scaling_compares_one_worker_with_two() {
    let (table, rows) = measured("bench scaling --quick --rounds 1 --workers 2 --only fib,skynet");
    assert!(table.contains("on 2") && table.contains("speed-up"), "{table}");
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[3]["workers"], 2);
    assert!(rows.iter().all(|row| row["speedup"].as_f64().is_some_and(|speedup| speedup > 0.0)), "{rows:?}");
}

/// With two workers, which are two nodes, more calls leave their node; the answer must be the same.
#[test]
fn objects_on_one_node_and_on_two_agree() {
    let (table, rows) = measured("bench apps --quick --rounds 1 --workers 2 --only sor");
    assert!(table.contains("sor --grid 16"), "{table}");
    assert_eq!(rows.len(), 1);
}

#[test]
fn transports_are_compared_with_channels() {
    let (table, rows) =
        measured("bench transports --quick --rounds 1 --only line,push,pull,adaptive,std,crossbeam,flume");
    assert!(table.contains("one cache line") && !table.contains("figure 10"), "{table}");
    assert!(rows.iter().all(|row| row["part"] == "carriers"), "{rows:?}");
    assert!(rows.len() > 5, "{rows:?}");
    assert!(rows[0]["stream"].is_null(), "a line carries nothing one way: {rows:?}");
    assert!(rows.iter().all(|row| row["round_trip"]["min"].as_f64().is_some_and(|time| time > 0.0)), "{rows:?}");
    assert!(rows[1..].iter().all(|row| row["stream"]["min"].as_f64().is_some_and(|time| time > 0.0)), "{rows:?}");
}

#[test]
fn transports_are_measured_by_size() {
    let (table, rows) = measured("bench transports --quick --rounds 1 --only costs");
    for text in ["table 5", "of the line", "1024", "adaptive"] {
        assert!(table.contains(text), "{text} in {table}");
    }
    // The bare line, and seven sizes by three transports.
    assert_eq!(rows.len(), 1 + 7 * 3, "{rows:?}");
    assert!(figure(&rows[0], "/latency/min") > 0.0);
    for row in &rows[1..] {
        let figures = ["/source/min", "/destination/median", "/latency/min"].map(|path| figure(row, path));
        assert!(figures.iter().all(|&figure| figure > 0.0), "{row}");
    }
    assert_eq!([&rows[1]["transport"], &rows[1]["bytes"]], [&Value::from("push"), &Value::from(16)]);
    assert_eq!((figure(&rows[1], "/paper_us/source"), figure(&rows[1], "/paper_us/latency")), (1.84, 6.16));
    assert_eq!(rows[3]["paper_us"]["source"], Value::Null, "the paper has no adaptive one");
}

#[test]
fn transports_are_measured_under_contention() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("contention.svg");
    let line = format!("bench transports --quick --rounds 1 --only contention --plot {}", file.display());
    let (table, rows) = measured(&line);
    for text in
        ["push, 8 nodes on 2 workers", "adaptive, 2 nodes on 2 workers", "hotspot x16", "[455 us]", "all-to-one over"]
    {
        assert!(table.contains(text), "{text} in {table}");
    }
    let part = |part: &str| rows.iter().filter(|row| row["part"] == part).collect::<Vec<_>>();
    // Four sizes by three transports by six patterns on eight nodes, and by three on two.
    assert_eq!([part("contention").len(), part("demands").len()], [4 * 3 * (6 + 3), 7]);
    for row in part("contention") {
        assert!(
            figure(row, "/source/median") >= figure(row, "/source/min") && figure(row, "/source/min") > 0.0,
            "{row}"
        );
        assert!(figure(row, "/stalled/min") >= 0.0 && figure(row, "/latency/min") > 0.0, "{row}");
    }
    for row in part("demands") {
        let met = if row["above"] == true {
            figure(row, "/ratio") > figure(row, "/limit")
        } else {
            figure(row, "/ratio") <= figure(row, "/limit")
        };
        assert_eq!(row["met"], met, "{row}");
        assert!(table.contains(row["what"].as_str().expect("a text")), "{row} in {table}");
    }
    let svg = fs::read_to_string(file).expect("a picture");
    assert!(svg.contains("adaptive, 2 nodes on 2 workers") && svg.contains("all-to-one"), "{svg}");
}

#[test]
fn check_in_another_profile_is_refused_in_one_line() {
    let output = bare("bench floors --check");
    // Tests are compiled with another profile than the one for which the limits hold.
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let complaint = text(&output.stderr);
    assert!(complaint.starts_with("error: --check") && complaint.contains("profile `measure`"), "{complaint}");
    assert_eq!(complaint.matches('\n').count(), 1, "{complaint}");
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn unknown_rows_and_invalid_numbers_are_refused_in_one_line() {
    for (line, parts) in [
        ("bench apps --only fly", &["--only", "`fly`", "fib, tak"][..]),
        ("bench layouts --only tak", &["--only", "`tak`", "sor, mdforce, em3d"]),
        ("bench microkernel --nodes 1", &["--nodes", "`1`", "2 to 4096"]),
        ("bench t3d --nodes 1", &["--nodes", "`1`", "2 to 4096"]),
        ("bench t3d --fabric threads", &["--fabric threads", "simulated machines"]),
        ("bench pcm --fabric sim --host-time 2", &["--host-time"]),
        ("bench pcm --fabric sim --only costs", &["--only", "`costs`", "table1, figure13"]),
        ("bench apps --fabric sim", &["--fabric", "runs on this computer"]),
        ("bench fly", &["`fly`", "use one of apps"]),
    ] {
        let output = finespun(line).output().expect("the command starts");
        let complaint = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{line}: {output:?}");
        assert!(complaint.starts_with("error: ") && complaint.matches('\n').count() == 1, "{line}: {complaint}");
        assert!(parts.iter().all(|part| complaint.contains(part)), "{line}: {complaint}");
    }
}

#[test]
fn applications_are_compared_with_their_plain_versions() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("apps.svg");
    let line = format!("bench apps --quick --rounds 1 --workers 2 --only fib,uts --plot {}", file.display());
    let (table, rows) = measured(&line);
    assert!(table.contains("fib 12") && table.contains("speed-up") && !table.contains("nqueens"), "{table}");
    assert_eq!(rows.len(), 2);
    assert!(rows[0]["cost"].as_f64().is_some_and(|cost| cost > 0.0), "{rows:?}");
    let svg = fs::read_to_string(file).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("quick: times mean nothing"), "{svg}");
}

#[test]
fn the_head_describes_the_measurement() {
    let output = output("bench scaling --quick --rounds 1 --only fib --workers 1");
    let head = output.lines().next().expect("a head");
    for text in ["finespun bench scaling", "profile `", "1 round", "quick: times mean nothing"] {
        assert!(head.contains(text), "{text} in {head}");
    }
}

/// The table cannot be written to a full device.
#[cfg(target_os = "linux")]
#[test]
fn a_failing_bench_leaves_no_empty_file() {
    use std::process::Stdio;
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("failed.json");
    let _ = fs::remove_file(&file);
    let line = format!("bench scaling --quick --rounds 1 --only fib --json {}", file.display());
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let status = finespun(&line).stdout(full).stderr(Stdio::null()).status().expect("it starts");
    assert!(status.code().is_some_and(|code| code != 0), "{status}");
    assert!(!file.exists());
}

/// Ctrl-C keeps the rows that have been measured.
#[cfg(unix)]
#[test]
fn interrupted_benches_keep_their_rows() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("interrupted.json");
    let _ = fs::remove_file(&file);
    // The second row takes minutes.
    let line = format!("bench scaling --only fib,uts-t3 --rounds 10000 --workers 1 --quick --json {}", file.display());
    let mut child = finespun(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line.starts_with("fib 12")), "the first row");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(kill.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let figures: Value = serde_json::from_str(&fs::read_to_string(file).expect("figures")).expect("JSON");
    assert_eq!(figures["interrupted"], true);
    let rows = figures["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["app"] == "fib") && rows.len() == 1, "{rows:?}");
}

#[test]
fn the_number_of_suspended_tasks_can_be_chosen() {
    assert!(output("bench suspended --rounds 1 --tasks 50").contains("50 tasks at the same time"));
    let output = finespun("bench suspended --tasks 0").output().expect("the command starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// Returns the number at `path` in a row.
fn figure(row: &Value, path: &str) -> f64 {
    row.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} is a number in {row}"))
}

#[test]
fn layouts_are_measured_on_the_stack_and_in_frames() {
    let (table, rows) = measured("bench layouts --quick --rounds 1 --workers 2 --nodes 16");
    for text in ["table 4", "table 5", "table 6", "heap/hybrid", "16 nodes on 2 workers"] {
        assert!(table.contains(text), "{text} in {table}");
    }
    // Blocks of 1, 2, 4 and 8; random and spatial; three forms, low and high.
    assert_eq!(rows.len(), 4 + 2 + 6, "{rows:?}");
    for row in &rows {
        assert!(figure(row, "/hybrid/min") > 0.0 && figure(row, "/heap/min") > 0.0);
        assert!((figure(row, "/ratio") - figure(row, "/heap/min") / figure(row, "/hybrid/min")).abs() < 1e-9);
        assert!(figure(row, "/heap/frames_per_unit") > figure(row, "/hybrid/frames_per_unit"), "{row}");
        assert!(figure(row, "/hybrid/messages_per_unit") > 0.0, "{row}");
    }
    // Larger blocks keep more reads on their node; the grid has 900 points with 4 reads each.
    let local: Vec<_> = rows[..4].iter().map(|row| figure(row, "/local_to_remote")).collect();
    assert!(local.is_sorted() && figure(&rows[0], "/local") == 0.0, "{local:?}");
    assert!(rows[..4].iter().all(|row| figure(row, "/units") == 900.0));
    // The paper's blocks of 64 and of 8, over 8 by 8 nodes.
    assert_eq!(figure(&rows[3], "/paper/T3D/ratio"), 2.334);
    assert_eq!(figure(&rows[0], "/paper/CM-5/hybrid"), 136.85);
}

#[test]
fn many_nodes_are_compared_with_few() {
    let (table, rows) = measured("bench nodes --quick --rounds 1 --workers 2");
    assert!(table.contains("64 nodes") && table.contains("2 nodes") && table.contains("2 workers"), "{table}");
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert!(figure(row, "/many/elapsed/min") > 0.0 && figure(row, "/few/elapsed/min") > 0.0, "{row}");
        // The system counts time in ticks, and runs as short as these may fall between two.
        let [many, few] = ["/many/processor/min", "/few/processor/min"].map(|time| figure(row, time));
        assert!(few == 0.0 || (figure(row, "/ratio") - many / few).abs() < 1e-9, "{row}");
        assert!(figure(row, "/many/messages") > 0.0 && figure(row, "/few/messages") > 0.0, "{row}");
    }
    // The remote share of a grid depends on the block size only, except for the boundary.
    for row in &rows[..2] {
        let [many, few] = ["/many/remote_share", "/few/remote_share"].map(|share| figure(row, share));
        assert!(many > 0.2 && (many / few - 1.0).abs() < 0.05, "{row}");
    }
    let (_, sor) = measured("bench nodes --quick --rounds 1 --only sor");
    assert_eq!(sor.len(), 2);
}

/// Virtual times: the same in each run, whatever the profile and the load.
#[test]
fn benches_on_simulated_machines_are_repeatable() {
    for line in [
        "bench microkernel --quick --fabric sim --nodes 4",
        "bench layouts --quick --fabric sim --machine t3d --only em3d --nodes 4",
        "bench scale --quick --nodes 4",
        "bench t3d --quick --only messages,calls,patterns",
        "bench istructure --quick --fabric sim --only reads",
        "bench pcm --quick --fabric sim",
    ] {
        let (table, rows) = measured(line);
        let (again, _) = measured(line);
        assert_eq!(table, again, "{line}");
        assert!(table.contains("imulated") && rows.len() >= 3, "{line}: {table}");
    }
}

/// The simulated machine's messages cost what its description says, and a hot spot costs senders that push.
#[test]
fn the_concert_paper_s_machine_is_simulated() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("t3d.svg");
    let (table, rows) = measured(&format!("bench t3d --quick --plot {}", file.display()));
    let of = |section: &str| rows.iter().filter(|row| row["section"] == section).collect::<Vec<_>>();
    for row in of("messages") {
        // The runtime adds 1 us at each end. A size may differ by a byte.
        let added = ["source", "destination"]
            .map(|side| figure(row, &format!("/{side}")) - figure(row, &format!("/paper/{side}")));
        assert!(added[1] > 0.9 && added[1] < 1.1 && added[0] > 0.9 && added[0] < 1.7, "{row}");
    }
    assert_eq!([of("messages").len(), of("patterns").len(), of("calls").len()], [10, 36, 3], "{table}");
    let source = |transport: &str, pattern: &str| {
        let found = of("patterns")
            .into_iter()
            .find(|row| row["transport"] == transport && row["pattern"] == pattern && figure(row, "/bytes") == 1024.0);
        figure(found.expect("a row"), "/source")
    };
    assert!(source("push", "all-to-one") > 4.0 * source("push", "all-to-all"), "{table}");
    assert!(source("pull", "all-to-one") < 1.1 * source("pull", "all-to-all"), "{table}");
    let svg = fs::read_to_string(file).expect("a picture");
    assert!(svg.contains("figure 10") && svg.contains("microkernel"), "{svg}");
}

#[test]
fn groups_are_compared_with_the_paper() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("parc.svg");
    let line = format!("bench parc --quick --rounds 1 --workers 2 --plot {}", file.display());
    let (table, rows) = measured(&line);
    for text in ["figure4", "table2", "figure6", "table3", "figure7", "stop", "representatives", "bottom-up", "4.02"] {
        assert!(table.contains(text), "{text} in {table}");
    }
    let of = |section: &str| rows.iter().filter(|row| row["section"] == section).collect::<Vec<_>>();
    // Four policies by five numbers of activities; the number of activities taken from the descriptor is known.
    assert_eq!(of("figure4").len(), 20);
    for row in of("figure4") {
        let (taken, activities) = (figure(row, "/acquisitions"), figure(row, "/activities"));
        match row["policy"].as_str().expect("a name") {
            "steal" => assert_eq!(taken, 0.0),
            "representatives" => assert!(taken < 40.0, "{row}"),
            _ => assert!(taken >= activities, "{row}"),
        }
    }
    assert_eq!(of("table2").len(), 4);
    // Ending an activity takes some time in every tree.
    assert!(of("table3").iter().all(|row| figure(row, "/end_ns/1") > 0.0));
    assert_eq!(of("stop").len(), 1);
    let svg = fs::read_to_string(file).expect("a picture");
    assert!(svg.contains("Figure 4") && svg.contains("Figure 6"), "{svg}");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("figure7.svg");
    let (_, rows) = measured(&format!("bench parc --quick --rounds 1 --only figure7 --plot {}", file.display()));
    assert_eq!(rows.len(), 2 * 21);
    assert!(fs::read_to_string(file).expect("a picture").contains("with pbreak"));
}

#[test]
fn closures_are_compared_with_the_paper() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pcm.svg");
    let (table, rows) = measured(&format!("bench pcm --quick --rounds 1 --workers 2 --plot {}", file.display()));
    for text in ["costs", "make a closure", "programs", "tail call", "eq. 2", "table1", "1590", "84,731,192"] {
        assert!(table.contains(text), "{text} in {table}");
    }
    let of = |section: &str| rows.iter().filter(|row| row["section"] == section).collect::<Vec<_>>();
    let lengths = ["costs", "programs", "model", "table1", "figure13"].map(|section| of(section).len());
    assert_eq!(lengths, [7, 13, 4, 7, 1]);
    assert!(of("costs").iter().all(|row| figure(row, "/ns") >= 0.0));
    for row in of("model") {
        let all = ["/measured", "/equation_2", "/tail_calls", "/equation_1", "/equation_1_mended"];
        assert!(all.iter().all(|name| figure(row, name) > 0.0), "{row}");
        // The prediction is a share of the time. The printed equation charges tail calls for more than the corrected
        // one.
        assert!(
            figure(row, "/equation_2") < 1.0 && figure(row, "/equation_1") < figure(row, "/equation_1_mended"),
            "{row}"
        );
    }
    let table = of("table1");
    // One node's share is the whole picture; the workers' pixels add up to all pixels.
    assert_eq!(figure(table[0], "/static_least"), figure(table[0], "/static_most"));
    let traced =
        table[1]["traced"].as_array().expect("two workers").iter().map(|pixels| pixels.as_u64().expect("a count"));
    assert_eq!(traced.sum::<u64>(), 64 * 64);
    assert!(fs::read_to_string(file).expect("a picture").contains("equation 2"));
}

#[test]
fn write_once_arrays_are_compared_with_the_paper() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("istructure.svg");
    let only = "operations,reads,critical,predictions";
    let line = format!("bench istructure --quick --rounds 1 --only {only} --plot {}", file.display());
    let (table, rows) = measured(&line);
    for text in ["2693", "O_miss", "51.54", "139328", "99.6", "6.68", "11.6", "4.61", "33.5"] {
        assert!(table.contains(text), "{text} in {table}");
    }
    let of = |section: &str| rows.iter().filter(|row| row["section"] == section).collect::<Vec<_>>();
    assert_eq!([of("operations").len(), of("platform").len(), of("reads").len(), of("critical").len()], [6, 6, 3, 3]);
    assert!(of("operations").iter().all(|row| figure(row, "/here_ns") > 0.0));
    // Each node reads for its 2 of 32 rows: one element of its own matrix and one of the other for each multiplication.
    let dense = of("reads")[0];
    assert_eq!(figure(dense, "/local/found") + figure(dense, "/remote/found"), (2 * 2 * 32 * 32) as f64);
    // The paper's own parameters reproduce its critical point.
    assert!((figure(of("critical")[0], "/paper_by_equation_1") - 6.68).abs() < 0.01);
    // Two platforms: five curves by hits, four by remote reads, one by speed.
    assert_eq!(of("predictions").len(), 2 * (5 + 4 + 1));
    let picture = fs::read_to_string(file).expect("a picture");
    assert!(["Figure 1", "Figure 2", "Figure 3", "MANNA"].iter().all(|text| picture.contains(text)));
}

#[test]
fn a_single_layout_table_and_its_picture() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("layouts.svg");
    let line = format!("bench layouts --quick --rounds 1 --only em3d --nodes 4 --plot {}", file.display());
    let table = output(&line);
    assert!(table.contains("forward, high") && !table.contains("table 4"), "{table}");
    let svg = fs::read_to_string(file).expect("a picture");
    assert!(svg.contains("em3d pull, low") && svg.contains("T3D"), "{svg}");
}

#[test]
fn microkernel_runs_in_five_versions() {
    let (table, rows) = measured("bench microkernel --quick --rounds 1 --workers 2 --nodes 4");
    for text in ["figure 11", "figure 12", "figure 13", "+stack+pull", "hotspot16", "4 places"] {
        assert!(table.contains(text), "{text} in {table}");
    }
    let part = |part: &str| rows.iter().filter(|row| row["part"] == part).collect::<Vec<_>>();
    // Two grains and six shares by five versions; three deviations and four destinations by three; the region.
    assert_eq!([part("impact").len(), part("contention").len(), part("region").len()], [60, 36, 30]);
    for row in part("impact").into_iter().chain(part("contention")) {
        let efficiency = figure(row, "/ideal/min") / figure(row, "/time/min");
        assert!(efficiency > 0.0 && (figure(row, "/efficiency") - efficiency).abs() < 1e-9, "{row}");
        assert!(figure(row, "/grain_us") > 0.0 && figure(row, "/threads") == 16.0, "{row}");
    }
    let base = part("impact")[0];
    assert_eq!([&base["version"], &base["schema"], &base["transport"]], ["base", "heap", "push"]);
    assert!(part("region").iter().any(|row| row["paper_us"] == 300.0 && row["version"] == "base"));
}

#[test]
fn invocation_by_schema_and_distance_has_the_expected_counts() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("invocation.svg");
    let (table, rows) = measured(&format!("bench invocation --quick --rounds 1 --plot {}", file.display()));
    assert!(fs::read_to_string(&file).expect("a picture").contains("held-shared"));
    for text in [
        "320 instructions",
        "79 instructions",
        "heap remote",
        "fallback - no-fallback",
        "remote-in-flight - remote-oneway",
        "(held-shared)",
    ] {
        assert!(table.contains(text), "{text} in {table}");
    }
    // The floors; ten methods at three distances in two schemas; making and freeing; waiting; replying.
    assert_eq!(rows.len(), 2 + 10 * 3 * 2 + 2 * 3 + 4 + 4 * 3);
    assert!(rows.iter().all(|row| figure(row, "/ns/min") > 0.0), "{rows:?}");
    let count = |way: &str, what: &str| {
        let row = rows.iter().find(|row| row["way"] == way).unwrap_or_else(|| panic!("{way} in {rows:?}"));
        figure(row, &format!("/per_call/{what}"))
    };
    // With more than one worker, thieves and full queues add a little.
    let about = |way: &str, what: &str, expected: f64| {
        let found = count(way, what);
        assert!((found - expected).abs() < 0.05, "{way}: {found} {what}");
    };
    let on_the_stack = ["shared", "exclusive", "straight", "may-block", "stack", "forward", "held-shared", "held"]
        .map(|way| (way, 0.0));
    for (way, frames) in on_the_stack.into_iter().chain([("pinned", 1.0), ("pinned-held", 1.0)]) {
        let [worker, remote] = ["worker", "remote"].map(|place| format!("{place}-{way}"));
        assert_eq!(
            (count(way, "frames"), count(way, "fallbacks"), count(way, "messages")),
            (frames, 0.0, 0.0),
            "{way}"
        );
        // A request and its reply; the reply to the same worker is not a message.
        about(&worker, "messages", 1.0);
        about(&remote, "messages", 2.0);
        for way in [way, &worker, &remote] {
            let heap = format!("heap-{way}");
            assert!(count(&heap, "frames") > count(way, "frames") + 0.5, "{heap} makes a frame");
            about(&heap, "messages", count(way, "messages"));
        }
    }
    // Only the listed calls fall back, each once.
    for (way, fallbacks, resumptions) in
        [("no-fallback", 0.0, 0.0), ("fallback", 1.0, 2.0), ("fallback-held", 2.0, 3.0), ("in-line", 3.0, 4.0)]
    {
        assert_eq!((count(way, "fallbacks"), count(way, "resumptions")), (fallbacks, resumptions), "{way}");
    }
    for (way, worker, remote) in
        [("create", 1.0, 2.0), ("free", 1.0, 2.0), ("oneway", 1.0, 1.0), ("in-flight", 1.0, 2.0)]
    {
        assert_eq!((count(way, "frames"), count(way, "messages")), (0.0, 0.0), "{way}");
        about(&format!("worker-{way}"), "messages", worker);
        about(&format!("remote-{way}"), "messages", remote);
    }
    // One frame for the continuation, and no message for the reply.
    for way in ["given", "carried"] {
        assert_eq!((count(way, "frames"), count(way, "messages")), (1.0, 0.0), "{way}");
        about(&format!("remote-{way}"), "messages", 1.0);
    }
}

#[test]
fn invocation_rows_can_be_selected_by_name_and_by_column() {
    let names = |only: &str| -> Vec<Value> {
        let (_, rows) = measured(&format!("bench invocation --quick --rounds 1 --only {only}"));
        rows.iter().map(|row| row["way"].clone()).collect()
    };
    assert_eq!(names("plain,held,remote-held,heap-worker-held"), ["plain", "held", "remote-held", "heap-worker-held"]);
    let remote = names("remote");
    // The floor belongs to this column, too.
    assert_eq!((remote.len(), &remote[0]), (1 + 10 + 2 + 4, &Value::from("line")));
}
