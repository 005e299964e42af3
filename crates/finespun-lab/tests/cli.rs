//! The command as a person or a script uses it: its real output, its exit codes, its one-line errors.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn command(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_finespun"));
    command.args(line.split_whitespace());
    command
}

fn finespun(line: &str) -> Output {
    command(line).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Returns the standard output of a successful command.
fn output(line: &str) -> String {
    let output = finespun(line);
    assert!(output.status.success(), "{line}: {output:?}");
    assert_eq!(text(&output.stderr), "", "{line}");
    text(&output.stdout)
}

/// Returns the JSON object of a command with `--json`.
fn json(line: &str) -> Value {
    let output = output(&format!("{line} --json"));
    assert_eq!(output.lines().count(), 1, "{output}");
    serde_json::from_str(&output).expect(&output)
}

/// Returns the error about an impossible command line: one line, exit code 2, and no other output.
fn refused(line: &str) -> String {
    let output = finespun(line);
    let complaint = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}: {complaint}");
    assert_eq!(text(&output.stdout), "", "{line}");
    assert_eq!(complaint.matches('\n').count(), 1, "{line}: {complaint}");
    assert!(complaint.starts_with("error: ") && !complaint.contains("panicked"), "{line}: {complaint}");
    complaint
}

/// Creates an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

const SEQUENCE: &str = "HPHHPPHHHHPHHHPPHHPPHPHHHPH";

/// Both versions of every application.
const VERSIONS: [&str; 2] = ["--workers 2", "--plain"];

#[test]
fn json_has_the_documented_members() {
    let object = json("run fib 20 --workers 2");
    let names: Vec<_> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(names, ["app", "parameters", "answer", "seconds", "workers", "stats"]);
    assert_eq!(object["app"], "fib");
    assert_eq!(object["parameters"]["n"], 20);
    assert_eq!(object["workers"], 2);
    assert!(object["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0 && seconds < 60.0));
    let stats = object["stats"].as_object().expect("an object");
    assert!(!stats.is_empty() && stats.values().all(Value::is_u64), "{stats:?}");
}

#[test]
fn small_applications_return_known_answers() {
    for version in VERSIONS {
        let answer = |line: &str| json(&format!("run {line} {version}"))["answer"].clone();
        assert_eq!(answer("fib 20")["value"], 6765);
        assert_eq!(answer("tak 12 8 4")["value"], 5);
        assert_eq!(answer("tak -1 0 7")["value"], 7);
        assert_eq!(answer("nqueens 8")["solutions"], 92);
        assert_eq!(answer("qsort 10_000")["sorted"], true);
        assert_eq!(answer("qsort 0")["least"], Value::Null);
        assert_eq!(answer("list 1000")["sum"], 500_500);
        assert_eq!(answer("skynet 3")["sum"], 499_500);
        assert_eq!(answer("search 10_000 --at 7_777 --activities 8")["position"], 7777);
        assert_eq!(answer("search 10_000 --at 7_777 --no-break")["position"], 7777);
        assert_eq!(answer("search 10_000 --at 10_000")["position"], Value::Null);
        assert_eq!(answer("sumto 100_000 --activities 77")["sum"], 5_000_050_000u64);
        assert_eq!(answer("matmul 64")["trace"], json("run matmul 64 --plain")["answer"]["trace"]);
        let area = answer("integrate --to 100 --tolerance 1e-3");
        let (area, exact) = (area["area"].as_f64().expect("a number"), area["exact"].as_f64().expect("a number"));
        assert!((area - exact).abs() < 1.0, "{area} against {exact}");
    }
}

/// The expected values come from another program; every form and several numbers of nodes give them.
#[test]
fn em3d_agrees_with_another_program() {
    let line = "run em3d --size 1000 --degree 10 --iterations 10 --seed 1";
    for how in ["--plain", "--form pull", "--form push --nodes 5", "--form forward --workers 2 --nodes 8"] {
        let answer = json(&format!("{line} {how}"))["answer"].clone();
        for (name, known) in [("sum_electric", -8_124.107_305_015_7), ("sum_magnetic", 10_366.223_598_613_7)] {
            let found = answer[name].as_f64().expect("a number");
            assert!((found / known - 1.0).abs() < 1e-9, "{how}: {found} instead of {known}");
        }
        let edges = ["local_edges", "remote_edges"].map(|name| answer[name].as_u64().expect("a number"));
        assert_eq!(edges.iter().sum::<u64>(), 20_000);
    }
    let stable =
        json("run em3d --variant stable --size 200 --locality 0.9 --iterations 20 --nodes 3")["answer"].clone();
    let at = |name: &str| stable[name].as_f64().expect("a number");
    assert!((at("invariant_start") / at("invariant_end") - 1.0).abs() < 1e-9, "{stable}");
}

/// The checksum comes from another program.
#[test]
fn microkernel_agrees_with_another_program() {
    let line = "run microkernel --places 8 --threads 50 --destinations hotspot4 --grain 100 --variance 0.5 --seed 1";
    for how in [
        "--plain",
        "--workers 1 --nodes 8",
        "--workers 2 --nodes 3 --transport pull",
        "--workers 1 --nodes 4 --encode",
        "--workers 2 --nodes 2 --overhead 1",
    ] {
        let answer = json(&format!("{line} {how}"))["answer"].clone();
        assert_eq!(answer["checksum"], 16_321_917_139_484_510_171_u64, "{how}");
        assert_eq!(answer["rounds"], 38_729);
    }
    assert_eq!(json(&format!("{line} --nodes 8"))["answer"]["remote_threads"], 208);
    assert_eq!(json("run microkernel --remote 0 --places 3 --threads 10 --grain 0")["answer"]["busiest_reads"], 30);
}

#[test]
fn protein_counts_foldings_by_energy() {
    for version in VERSIONS {
        let object = json(&format!("run protein --lattice 3x3x3 --sequence {SEQUENCE} {version}"));
        assert_eq!(object["parameters"]["lattice"], "3x3x3");
        assert_eq!(object["parameters"]["sequence"], SEQUENCE);
        assert_eq!(object["answer"]["foldings"], 103_346);
        let histogram = object["answer"]["histogram"].as_object().expect("an object");
        assert_eq!(histogram["-16"], 211);
        assert_eq!(histogram["-6"], 24);
        assert_eq!(histogram.values().filter_map(Value::as_u64).sum::<u64>(), 103_346);
    }
    assert_eq!(json("run protein --lattice 4x4")["answer"], serde_json::json!({"foldings": 69}));
}

#[test]
fn closure_versions_return_the_same_answers() {
    for version in VERSIONS {
        let answer = |line: &str| json(&format!("{line} {version}"))["answer"].clone();
        assert_eq!(answer("run fib 20 --closures"), serde_json::json!({"value": 6765}));
        assert_eq!(answer("run fib 20 --closures --no-tail-call"), serde_json::json!({"value": 6765}));
        assert_eq!(answer("run nqueens 8 --closures"), serde_json::json!({"solutions": 92}));
        assert_eq!(answer("run protein --lattice 3x3x3 --closures"), serde_json::json!({"foldings": 103_346}));
    }
}

#[test]
fn raytrace_writes_its_pictures() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (picture, work) = (folder.join("picture.png"), folder.join("work.png"));
    for version in VERSIONS {
        let grande =
            json(&format!("run raytrace --scene java-grande --size 20 --shared-ray {version}"))["answer"].clone();
        let own = json(&format!("run raytrace --scene java-grande --size 20 --closures {version}"))["answer"].clone();
        assert_ne!(grande["checksum"], own["checksum"], "the shared ray shows");
        assert!(own["tests"].as_u64() > Some(64 * 400), "{own}");
        let files = format!("--png {} --work-png {}", picture.display(), work.display());
        let show = json(&format!("run raytrace --levels 2 --size 64 --closures {files} {version}"))["answer"].clone();
        // The same values as in the application's own tests.
        assert_eq!((&show["checksum"], &show["tests"]), (&1_574_413.into(), &257_940.into()));
        let traced = show["traced"].as_array().expect("a share for each worker");
        assert_eq!(traced.iter().map(|pixels| pixels.as_u64().expect("a count")).sum::<u64>(), 64 * 64);
        for file in [&picture, &work] {
            assert_eq!(fs::read(file).expect("a picture")[1..4], *b"PNG");
            fs::remove_file(file).expect("it was there");
        }
    }
}

#[test]
fn uts_takes_names_and_option_letters() {
    let counts = |line: &str| {
        let answer = json(line)["answer"].clone();
        ["nodes", "depth", "leaves"].map(|name| answer[name].as_u64().expect(name))
    };
    let fixed = "--type 1 --shape 3 --depth 5 --branching 4 --seed 19";
    for version in VERSIONS {
        assert_eq!(counts(&format!("run uts --type 3 --branching 2 --depth 4 {version}")), [31, 4, 16]);
        assert_eq!(counts(&format!("run uts {fixed} {version}")), counts("run uts -t 1 -a 3 -d 5 -b 4 -r 19 --plain"));
    }
    let object = json("run uts --type 0 --root-branching 100 --q 0.24 --m 4 --plain");
    assert_eq!(object["parameters"], serde_json::json!({"type": 0, "branching": 100, "q": 0.24, "m": 4}));
    let hybrid = "run uts --type 2 --depth 8 --root-branching 5 --shift 0.5 --q 0.2 --m 4";
    assert_eq!(counts(hybrid), counts(&format!("{hybrid} --plain")));
}

#[test]
fn mdforce_layouts_agree_and_system_files_are_read() {
    let pairs = |object: &Value| ["pairs", "pairs_1-4"].map(|name| object["answer"][name].as_u64().expect(name));
    let plain = json("run mdforce --cutoff 0.4 --iterations 1 --plain");
    assert_eq!(plain["parameters"]["atoms"], 2603);
    let same = ["--layout random --nodes 3", "--layout spatial --nodes 5 --workers 2"].map(|how| {
        let object = json(&format!("run mdforce --cutoff 0.4 --iterations 1 {how}"));
        assert_eq!(pairs(&object), pairs(&plain));
        for name in ["lj", "coulomb", "lj_1-4", "coulomb_1-4", "forces"] {
            let [one, other] = [&object, &plain].map(|object| object["answer"][name].as_f64().expect(name));
            assert!((one - other).abs() <= 1e-9 * other.abs(), "{how}, {name}: {one} and {other}");
        }
        let [local, remote] = ["local_pairs", "remote_pairs"].map(|name| object["answer"][name].as_u64().expect(name));
        assert_eq!(local + remote, pairs(&plain).iter().sum::<u64>());
        remote
    });
    assert!(same[1] < same[0], "{same:?}");
    // A system from a file.
    let file = folder("mdforce").join("two.mdsys");
    let atom = |index: u32, charge: f64, x: f64| format!("{index} NA NA 1 23.0 {charge} 0.3 0.5 {x} 0 0\n");
    let text = format!("atoms 2\n{}{}exceptions 0\n", atom(0, 1.0, 0.0), atom(1, -1.0, 0.5));
    fs::write(&file, text).expect("a file");
    let answer = json(&format!("run mdforce --system {} --nodes 2 --layout random", file.display()))["answer"].clone();
    assert_eq!(answer["pairs"], 1);
    assert_eq!(answer["remote_pairs"], 1);
    assert_eq!(answer["coulomb"], -138.935456 / 0.5);
    fs::write(&file, "atoms 2\n").expect("a file");
    let complaint = refused(&format!("run mdforce --system {}", file.display()));
    assert!(complaint.contains("two.mdsys, line 2: the file ends here, before atom 0 of 2"), "{complaint}");
}

#[test]
fn sparse_matrix_applications_agree_with_known_answers() {
    let file = folder("sparsemm").join("small.mtx");
    let text = "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1.0\n2 1 -2.0\n2 2 0.5\n3 2 4.0\n";
    fs::write(&file, text).expect("a file");
    let plain = json("run cg --iterations 1 --plain")["answer"].clone();
    for how in ["--plain", "--form split --nodes 2", "--form istructure --nodes 5", "--nodes 2 --workers 2 --count"] {
        let answer =
            |product: &str| json(&format!("run sparsemm {} {product} {how}", file.display()))["answer"].clone();
        let (aat, ata) = (answer(""), answer("--product ata"));
        assert_eq!((&aat["nonzeros"], &aat["sum"]), (&7.into(), &21.25.into()), "{how}");
        assert_eq!((&ata["nonzeros"], &ata["sum"]), (&4.into(), &19.25.into()), "{how}");
        let norms = [&aat, &ata].map(|answer| answer["frobenius"].as_f64().expect("a number"));
        assert!(norms.iter().all(|norm| (norm * norm - 291.0625).abs() < 1e-9), "{how}: {norms:?}");
        assert_eq!(aat["local_reads"].is_u64(), how.contains("--count"));
        let total = json(&format!("run sparsemm --random 1000 --nonzeros 5000 --iterations 3 {how}"))["answer"].clone();
        assert_eq!(total["total"], json("run sparsemm --random 1000 --iterations 3 --plain")["answer"]["total"]);
        let found = json(&format!("run cg --iterations 1 {how}"));
        assert_eq!(found["parameters"]["class"], "S");
        assert_eq!(found["answer"]["zeta"], plain["zeta"], "{how}");
        assert_eq!(found["answer"]["nonzeros"], 78_148);
    }
    fs::write(&file, "%%MatrixMarket matrix coordinate real general\n3 2 4\n").expect("a file");
    let complaint = refused(&format!("run sparsemm {}", file.display()));
    assert!(complaint.contains("small.mtx, line 3: the file ends here, before entry 1 of 4"), "{complaint}");
}

/// Four million hashes: some seconds without optimisation.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn a_published_tree_has_its_published_size() {
    let object = json("run uts --tree t1 --workers 2");
    assert_eq!(object["parameters"]["tree"], "T1");
    assert_eq!(object["answer"], serde_json::json!({"nodes": 4_130_071, "depth": 10, "leaves": 3_305_118}));
}

#[test]
fn a_simulated_machine_gives_the_same_answer_in_repeatable_time() {
    let line = "run em3d --size 256 --degree 8 --iterations 3 --nodes 16";
    let threads = json(&format!("{line} --workers 2"));
    let simulated = json(&format!("{line} --fabric sim --machine t3d"));
    assert_eq!(threads["answer"], simulated["answer"]);
    assert_eq!(simulated["workers"], 16);
    assert_eq!(simulated["simulated"]["machine"], "Cray T3D");
    let again = json(&format!("{line} --fabric sim --machine t3d"));
    for member in ["seconds", "stats"] {
        assert_eq!(simulated[member], again[member], "{member}");
    }
    assert_eq!(simulated["simulated"]["events"], again["simulated"]["events"]);
    assert!(output(&format!("{line} --fabric sim")).contains("virtual time"));
}

/// One line for each application.
const EVERYTHING: [&str; 21] = [
    "fib 15",
    "tak 8 4 2",
    "nqueens 6",
    "qsort 5000",
    "list 5000",
    "skynet 3",
    "matmul 64",
    "sor --grid 32 --iterations 2",
    "em3d --size 256 --degree 4 --iterations 2",
    "microkernel --threads 8 --grain 20",
    "mdforce --cutoff 0.3",
    "densemm 16 --form cached",
    "hopfield 64 --patterns 4 --turned 8",
    "cg --class S --iterations 1 --form cached",
    "sparsemm --random 200 --nonzeros 1000 --iterations 2",
    "integrate --to 100 --tolerance 1e-3",
    "search 100000 --at 70000 --activities 16",
    "sumto 100000 --activities 100",
    "uts --type 1 --shape 3 --depth 5 --branching 4 --seed 19",
    "protein --lattice 2x3x3",
    "raytrace --size 20",
];

#[test]
fn every_application_gives_its_answer_on_64_simulated_nodes() {
    let names: Vec<_> = EVERYTHING.iter().map(|line| line.split(' ').next()).collect();
    assert!((1..names.len()).all(|k| !names[..k].contains(&names[k])), "each application once");
    for line in EVERYTHING {
        let threads = json(&format!("run {line} --nodes 64 --workers 2"));
        let simulated = json(&format!("run {line} --fabric sim --nodes 64"));
        assert_eq!(simulated["answer"], threads["answer"], "{line}");
        assert_eq!(simulated["workers"], 64, "{line}");
    }
}

#[test]
fn a_dead_node_ends_the_run_with_an_error_and_a_trace() {
    let trace = folder("death").join("trace.json");
    let line = format!("run em3d --size 256 --fabric sim --nodes 8 --node-dies 3@200 --trace {}", trace.display());
    let output = finespun(&line);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(error.contains("node 3 died after 200"), "{error}");
    let trace = fs::read_to_string(&trace).expect("a trace of the run that failed");
    let trace: serde_json::Value = serde_json::from_str(&trace).expect("JSON");
    assert!(trace["traceEvents"].as_array().is_some_and(|events| events.len() > 100));
}

#[test]
fn machines_are_read_from_files() {
    let folder = folder("machines");
    let known = include_str!("../../finespun/src/sim/machines/t3d.toml");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let mine = file("mine.toml", &known.replace("Cray T3D", "mine"));
    let wrong = file("wrong.toml", &known.replace("latency_us", "latency"));
    let ran = json(&format!("run fib 12 --fabric sim --nodes 2 --machine {mine}"));
    assert_eq!(ran["simulated"]["machine"], "mine");
    let refusal = refused(&format!("run fib 12 --fabric sim --machine {wrong}"));
    assert!(refusal.contains("wrong.toml: line") && refusal.contains("unknown field `latency`"), "{refusal}");
    for (line, part) in [
        ("run fib 12 --fabric sim --machine nothing.toml", "cannot be read"),
        ("run fib 12 --fabric sim --machine t3e", "there is no machine `t3e`"),
        ("run fib 12 --fabric sim --nodes 0", "--nodes"),
        ("run fib 12 --fabric sim --nodes 70000", "--nodes"),
        ("run fib 12 --machine t3d", "add --fabric sim"),
        ("run fib 12 --fabric sim --sim-seed x", "--sim-seed"),
        ("run fib 12 --workers 2000", "between 1 and 1024 workers"),
        ("run fib 12 --plain --fabric sim", "--fabric"),
        ("run fib 12 --fabric sim --nodes 4 --node-dies 4@10", "numbered from 0"),
        ("run fib 12 --fabric sim --nodes 4 --node-dies 4", "for example 3@1500"),
        ("run fib 12 --nodes 4 --node-dies 1@10", "add --fabric sim"),
        ("run fib 12 --fabric sim --host-time -1", "a number from 0 to 1e6"),
        ("run fib 12 --trace trace.json", "add --fabric sim"),
        ("check --seeds 3 --trace trace.json", "add --seed"),
        ("check --seed x", "--seed"),
        ("check --seeds 0", "--seeds"),
        ("check --program flying", "there is no such program; one of tree"),
        ("check --from 18446744073709551615 --seeds 2", "too large"),
    ] {
        let refusal = refused(line);
        assert!(refusal.contains(part), "{line}: {refusal}");
    }
}

#[test]
fn checks_pass_and_count_their_seeds() {
    let text = output("check --seeds 150");
    assert!(text.contains("all passed") && text.contains("150 seeds"), "{text}");
    assert!(output("check --program order --seeds 20").contains("order            20 seeds"));
}

#[test]
fn text_output_is_for_people() {
    let text = output(&format!("run protein --lattice 3x3x3 --sequence {SEQUENCE} --workers 1 --stats"));
    assert!(text.contains("foldings         103,346\n"), "{text}");
    assert!(text.contains(" -11    25,296  ##################################################\n"), "{text}");
    assert!(text.contains(", 1 worker\n") && text.contains("\nframes "), "{text}");
    assert!(text.contains("  Frames made: ") && text.contains("\n0: "), "each counter is explained: {text}");
    assert!(output("run fib 5 --plain").contains("plain sequential version"));
    assert!(output("run fib 5 --repeat 3").contains("median of 3 runs"));
    assert_eq!(json("run fib 5 --repeat 3")["runs"].as_array().map(Vec::len), Some(3));
}

#[test]
fn options_may_precede_or_follow_the_application() {
    assert_eq!(json("run --workers 3 fib 5")["workers"], 3);
    assert_eq!(json("run fib --workers 3 5 --block-every 2")["answer"]["value"], 5);
}

/// Each of the 177 calls of `fib 10` has a frame with `--schema heap`; almost none has one otherwise.
#[test]
fn the_schema_decides_between_frames_and_the_stack() {
    let frames =
        |how: &str| json(&format!("run fib 10 --workers 1 {how}"))["stats"]["frames"].as_u64().expect("a number");
    let (neither, auto, heap) = (frames(""), frames("--schema auto"), frames("--schema heap"));
    assert_eq!(auto, neither);
    assert!(auto < 10 && heap >= 177, "{auto} {heap}");
    assert_eq!(heap, frames("--block-every 1"));
}

#[test]
fn wrong_input_is_reported_in_one_line() {
    for (line, parts) in [
        ("", &["no command given", "run, bench, check, schemas, doctor"][..]),
        ("fly", &["unknown command `fly`", "run, bench, check, schemas, doctor"]),
        ("run", &["no app given", "fib, tak", "protein"]),
        (
            "run fly",
            &[
                "unknown app `fly`",
                "fib, tak, nqueens, qsort, list, skynet, matmul, sor, em3d, microkernel, mdforce, densemm, hopfield, cg, sparsemm, integrate, search, sumto, uts, protein, raytrace",
            ],
        ),
        ("run fbi", &["unknown app `fbi`", "did you mean fib?", "fib, tak"]),
        ("rnu", &["unknown command `rnu`", "did you mean run?"]),
        ("run fib", &["<N>", "missing", "finespun run fib"]),
        ("run fib -1", &["<N> cannot be `-1`", "0 to 93"]),
        ("run fib 94", &["<N> cannot be `94`", "0 to 93"]),
        ("run fib 99999999999999999999999999", &["<N>", "0 to 93"]),
        ("run fib 3 4", &["unexpected argument `4`", "finespun run fib"]),
        ("run fib 3 --wrokers 2", &["--wrokers", "--workers"]),
        ("run fib 3 --workers 0", &["--workers", "`0`", "1 to 65536"]),
        ("run fib 3 --workers 1025", &["--workers", "1 and 1024"]),
        ("run fib 3 --workers -2", &["--workers", "1 to 65536"]),
        ("run fib 3 --workers", &["--workers"]),
        (
            "run sumto 3 --policy chance",
            &["--policy", "`chance`", "use one of steal, global, envelopes, representatives"],
        ),
        ("run search 0", &["<N>", "1 to 10000000000"]),
        ("run fib 3 --transport pigeon", &["--transport", "`pigeon`", "use one of push, pull, adaptive"]),
        ("run fib 3 --overhead -1", &["--overhead", "0 to 1000000"]),
        ("run fib 3 --encode --plain", &["--encode", "--plain"]),
        ("run fib 3 --schema pile", &["--schema", "`pile`", "use one of auto, heap"]),
        ("run fib 3 --schema heap --plain", &["--schema", "--plain"]),
        ("run --schema heap fib 3 --block-every 2", &["--schema", "--block-every"]),
        ("run fib 3 --repeat 0", &["--repeat", "1 to 1000000"]),
        ("run fib 3 --plain --workers 2", &["--workers", "--plain"]),
        ("run --plain fib 3 --stats", &["--stats", "--plain"]),
        ("run fib 3 --plot x.svg", &["--plot", "histogram"]),
        ("run tak 1 2", &["<Z>"]),
        ("run nqueens 33", &["<N>", "0 to 32"]),
        ("run skynet 10", &["<DEPTH>", "0 to 9"]),
        ("run matmul 0", &["<N>", "1 to 32768"]),
        ("run qsort -5", &["<N>", "0 to 10000000000"]),
        ("run integrate --tolerance 0", &["--tolerance", "above 0"]),
        ("run integrate --to nan", &["--to", "-1e9 to 1e9"]),
        ("run em3d --size 0", &["--size", "1 to 1048576"]),
        ("run em3d --size 8", &["--degree 16", "which are 8", "--size"]),
        ("run em3d --locality 1.5", &["--locality", "0 to 1"]),
        ("run em3d --form shove", &["--form", "`shove`", "pull, push, forward"]),
        ("run microkernel --remote -1", &["--remote", "0 to 1"]),
        ("run microkernel --destinations hotspot", &["--destinations", "`hotspot`", "all-to-all, random, hotspotK"]),
        ("run microkernel --destinations hotspot0", &["--destinations", "1 to 1000"]),
        ("run microkernel --places 1", &["--remote", "--places"]),
        ("run densemm 0", &["[N]", "1 to 8192"]),
        ("run densemm 8 --form cold", &["--form", "`cold`", "split, istructure, cached"]),
        ("run densemm 8 --cache-block 0", &["--cache-block", "1 to 65536"]),
        ("run densemm 8 --cache-block 12", &["--cache-block 12", "8 or 16"]),
        ("run densemm 8 --cache-capacity 0", &["--cache-capacity", "1 to 1000000000"]),
        ("run densemm 8 --form split --cache-block 8", &["--cache-block", "--form cached", "--form split"]),
        ("run densemm 8 --form split --count", &["--count", "--form split"]),
        ("run hopfield 0", &["[N]", "1 to 16384"]),
        ("run hopfield 9 --update never", &["--update", "`never`", "sequential, synchronous"]),
        ("run hopfield 9 --sweeps 0", &["--sweeps", "1 to 1000000"]),
        ("run cg --class B", &["--class", "`B`", "S, W, A"]),
        ("run cg --iterations 0", &["--iterations", "1 to 1000"]),
        ("run cg --form split --count", &["--count", "--form split"]),
        ("run sparsemm nowhere.mtx", &["nowhere.mtx cannot be read", "name a file"]),
        ("run sparsemm Cargo.toml", &["Cargo.toml, line 1", "%%MatrixMarket"]),
        ("run sparsemm Cargo.toml --nonzeros 3", &["--nonzeros", "`Cargo.toml`"]),
        ("run sparsemm --product ata", &["--product", "FILE"]),
        ("run sparsemm --product aa", &["--product", "`aa`", "aat, ata"]),
        ("run sparsemm --random 0", &["--random", "1 to 10000000"]),
        ("run mdforce --cutoff 0", &["--cutoff", "`0`", "above 0"]),
        ("run mdforce --cutoff nan", &["--cutoff", "above 0"]),
        ("run mdforce --layout cubic", &["--layout", "`cubic`", "random, spatial"]),
        ("run mdforce --replicate 0", &["--replicate", "1 to 10000"]),
        ("run mdforce --replicate 10000", &["--replicate", "2603 atoms fit"]),
        ("run mdforce --iterations 0", &["--iterations", "1 to 1000000"]),
        ("run mdforce --system nowhere.mdsys", &["nowhere.mdsys cannot be read", "name a file"]),
        ("run mdforce --system Cargo.toml", &["Cargo.toml, line 1", "%VERSION"]),
        ("run mdforce --system src", &["src cannot be read", "directory"]),
        ("run mdforce --coordinates x.crd", &["--system"]),
        ("run uts --tree T9", &["--tree", "`T9`", "T1, T5"]),
        ("run uts --tree T1 --depth 3", &["--tree", "--depth"]),
        ("run uts --type 4", &["--type", "`4`", "0 (binomial)"]),
        ("run uts --depth 0", &["--depth", "1 to 2147483647"]),
        ("run uts --seed -1", &["--seed", "`-1`"]),
        ("run uts --type 0 --q 1", &["--q", "never ends"]),
        ("run fib 3 --no-tail-call", &["--closures"]),
        ("run raytrace --shared-ray", &["--shared-ray", "java-grande"]),
        ("run raytrace --size 0", &["--size", "whole number from 1"]),
        ("run raytrace --png /nowhere/at/all.png --size 3", &["--png", "/nowhere/at/all.png"]),
        ("run protein", &["--lattice", "missing"]),
        ("run protein --lattice 3x0x3", &["--lattice", "3x0x3", "at least 1 site"]),
        ("run protein --lattice 3", &["--lattice", "AxBxC"]),
        ("run protein --lattice -3x3", &["--lattice", "AxBxC"]),
        ("run protein --lattice 9x9x9", &["--lattice", "at most 64"]),
        ("run protein --lattice 3x3 --sequence HPX", &["--sequence", "`X`", "only H"]),
        ("run protein --lattice 3x3 --sequence HPH", &["--sequence", "3 monomers", "9 sites"]),
        ("run protein --lattice 3x3 --plot x.svg", &["--plot", "--sequence"]),
        ("bench", &["no bench given", "--list"]),
        ("bench fly", &["`fly`", "use one of apps, instructions"]),
        ("bench apps --rounds 0", &["--rounds", "1 to 10000"]),
        ("bench layouts --nodes 0", &["--nodes", "1 to 65536"]),
        ("doctor now", &["unexpected argument `now`"]),
    ] {
        let complaint = refused(line);
        for part in parts {
            assert!(complaint.contains(part), "`{part}` is not in the complaint about `{line}`: {complaint}");
        }
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let output = Command::new(env!("CARGO_BIN_EXE_finespun"))
        .args(["run", "\u{1b}[31m\nred"])
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.contains(&0x1b), "{output:?}");
    assert_eq!(output.stderr.iter().filter(|&&byte| byte == b'\n').count(), 1, "{output:?}");
}

#[test]
fn a_problem_that_exceeds_the_memory_is_refused() {
    if cfg!(target_os = "linux") {
        let complaint = refused("run qsort 10_000_000_000 --plain");
        assert!(complaint.contains("memory") && complaint.contains("GiB"), "{complaint}");
    }
}

#[test]
fn plots_are_written() {
    let file = folder("plots").join("energies.svg");
    fs::write(&file, "x".repeat(100_000)).expect("an old file");
    output(&format!("run protein --lattice 3x3x3 --sequence {SEQUENCE} --plot {}", file.display()));
    let svg = fs::read_to_string(&file).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("energy") && svg.contains("foldings") && svg.contains("-16"), "{svg}");
}

/// The run would take years, so the error must come before the work.
#[test]
fn unwritable_plots_are_refused_before_the_work() {
    let sequence = "H".repeat(64);
    let folder = folder("unwritable");
    for file in [folder.join("no such folder/x.svg"), folder.clone()] {
        let output = Command::new(env!("CARGO_BIN_EXE_finespun"))
            .args(["run", "protein", "--lattice", "4x4x4", "--sequence", &sequence, "--plot"])
            .arg(&file)
            .output()
            .expect("the command starts");
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.starts_with(&format!("error: --plot {}", file.display())), "{complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
}

#[test]
fn help_has_examples_for_every_application() {
    let help = output("run --help");
    for app in [
        "fib",
        "tak",
        "nqueens",
        "qsort",
        "list",
        "skynet",
        "matmul",
        "sor",
        "em3d",
        "microkernel",
        "mdforce",
        "densemm",
        "hopfield",
        "cg",
        "sparsemm",
        "integrate",
        "search",
        "sumto",
        "uts",
        "protein",
        "raytrace",
    ] {
        assert!(help.contains(&format!("finespun run {app}")), "an example of {app} in {help}");
        let help = output(&format!("run {app} --help"));
        assert!(help.contains("Example") && help.contains("Answer:") && help.contains("--workers"), "{help}");
    }
    assert!(output("--help").contains("finespun doctor"));
    assert!(output("--version").starts_with("finespun "));
}

/// Listing and help work without compiling the benches.
#[test]
fn benches_are_listed_and_explained() {
    let list = output("bench --list");
    assert!(list.lines().any(|line| line.starts_with("apps ")) && !list.contains("\ncount "), "{list}");
    let help = output("bench --help");
    assert!(help.contains("--rounds") && help.contains("finespun-bench") && help.contains("Ctrl-C"), "{help}");
}

#[test]
fn the_doctor_reports_every_resource_and_tool() {
    let report = output("doctor");
    for what in ["cores", "affinity", "quota", "workers", "stack", "pinning", "valgrind", "gcc", "mpi"] {
        let line = report.lines().find(|line| line.split_whitespace().nth(1) == Some(what)).expect(what);
        assert!(line.starts_with("ok") || line.contains("cure: "), "{line}");
    }
}

/// A seed has the same events each time, also if a node dies.
#[test]
fn seeds_have_the_same_events_each_time() {
    let events = || {
        let text = output("check --program tree --seeds 1500 --jobs 1");
        let line = text.lines().find(|line| line.starts_with("all passed")).expect("the last line").to_owned();
        line.split(" in ").next().map(str::to_owned)
    };
    assert_eq!(events(), events());
}

/// Each of several processes would do all of the work: one line, from the first.
#[test]
fn copies_under_a_launcher_are_refused() {
    for line in ["run fib 20", "check --seeds 1", "bench scaling --quick"] {
        for (rank, lines) in [("0", 1), ("1", 0)] {
            let mut copy = command(line);
            let copy = copy.env("PMI_RANK", rank).env("PMI_SIZE", "4").output().expect("the command starts");
            let complaint = text(&copy.stderr);
            assert_eq!((copy.status.code(), complaint.lines().count()), (Some(2), lines), "{line}: {complaint}");
            assert!(lines == 0 || complaint.contains("mpirun of MPICH has started 4 processes"), "{complaint}");
            assert_eq!(text(&copy.stdout), "");
        }
        let alone =
            command("run fib 20").env("PMI_RANK", "0").env("PMI_SIZE", "1").output().expect("the command starts");
        assert!(alone.status.success(), "{alone:?}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child = command("run protein --lattice 3x3x3 --plain --json");
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    drop(child.stdout.take());
    let mut complaint = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut complaint).expect("text");
    assert_eq!(child.wait().expect("an end").code(), Some(0), "{complaint}");
    assert_eq!(complaint, "");
}

#[cfg(unix)]
#[test]
fn non_unicode_arguments_are_reported_in_one_line() {
    use std::os::unix::ffi::OsStringExt;
    let word = std::ffi::OsString::from_vec(vec![b'3', 0xff]);
    let output = command("run fib").arg(word).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr).lines().count(), 1, "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_in_one_line() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the full device");
    let output = command("run fib 5 --plain").stdout(full).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr).lines().count(), 1, "{output:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_cleanly() {
    for (signal, code, line) in [("INT", 130, "interrupted\n"), ("TERM", 143, "terminated\n")] {
        check_signal(signal, code, line);
    }
}

#[cfg(unix)]
fn check_signal(signal: &str, code: i32, line: &str) {
    let plot = folder("interrupted").join("energies.svg");
    let sequence = "H".repeat(64);
    let mut child = Command::new(env!("CARGO_BIN_EXE_finespun"));
    child
        .args(["run", "protein", "--lattice", "4x4x4", "--workers", "2", "--sequence", &sequence, "--plot"])
        .arg(&plot);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    while !plot.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().expect("kill");
    assert!(kill.success());
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert_eq!(text(&output.stderr), line);
    assert!(!plot.exists(), "the empty picture is removed");
}

#[test]
fn schemas_names_the_pinned_tasks_with_place_reason_and_cure() {
    let folder = folder("schemas");
    let source = "use finespun::prelude::*;

#[task]
async fn fib(n: u64) -> u64 {
    if n < 2 { return n; }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

mod inner {
    #[task]
    async fn lends(n: u64) -> u64 {
        let mut local = n * 2; let kept = &mut local;
        let sum = read(kept).await;
        sum + n
    }

    impl Reader {
        #[task]
        async fn part(&self, n: u64) -> u64 {
            if n == 0 { return 0; }
            let mut local = n * 2; let kept = &mut local;
            self.read(kept).await
        }
    }
}
";
    fs::create_dir_all(folder.join("src/target")).expect("a folder");
    fs::write(folder.join("src/lib.rs"), source).expect("a file");
    fs::write(folder.join("src/target/other.rs"), "not Rust").expect("a file");
    let path = folder.join("src").display().to_string();
    let all = output(&format!("schemas {path}"));
    assert!(all.contains(&format!("{path}/lib.rs:4: fib: stack\n")), "{all}");
    let pinned = output(&format!("schemas {path} --pinned"));
    let expected = format!(
        "{path}/lib.rs:12: lends: straight if all its callees are straight; otherwise pinned\n\
        \x20   {path}/lib.rs:14: the awaited call borrows the local `local`\n\
        \x20       cure: take `&`, `&mut` or a slice as a parameter, or move the part that lends into a task of its own\n\
        {path}/lib.rs:20: part: stack, with a pinned part\n\
        \x20   {path}/lib.rs:23: the awaited call borrows the local `local`\n\
        \x20       cure: take `&`, `&mut` or a slice as a parameter, or move the part that lends into a task of its own\n\
        3 tasks: 1 pinned, 0 pinned as asked for, 1 with a pinned part\n"
    );
    assert_eq!(pinned, expected);
}

#[test]
fn schemas_refuses_what_is_no_program() {
    let folder = folder("no-schemas");
    fs::write(folder.join("bad.rs"), "fn (").expect("a file");
    fs::write(folder.join("task.rs"), "\n#[task]\nfn plain() {}\n").expect("a file");
    let path = folder.display();
    assert!(refused(&format!("schemas {path}/bad.rs")).contains("bad.rs: line 1: "));
    assert!(refused(&format!("schemas {path}/task.rs")).contains("task.rs: line 3: a task is an `async fn`"));
    assert!(refused("schemas no/such/file.rs").contains("no/such/file.rs: cannot be read"));
    assert!(refused("schemas").contains("PATH"));
}
