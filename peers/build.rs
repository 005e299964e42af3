//! Builds the C++ columns: the plain recursion, oneTBB and OpenMP.
//!
//! Columns that this machine cannot build are left out, with a warning that says what
//! to install; the rest of the matrix builds and runs without them.

use std::path::Path;
use std::process::Stdio;
use std::{env, fs};

/// One C++ column: its source, its requirements and how to check them.
struct Column {
    /// Names the source file, the archive and the `cfg` that switches the column on.
    name: &'static str,
    /// The smallest program that needs the runtime.
    probe: &'static str,
    flags: &'static [&'static str],
    library: Option<&'static str>,
    cure: &'static str,
}

const COLUMNS: [Column; 3] = [
    Column { name: "plain_cpp", probe: "int main() { return 0; }", flags: &[], library: None, cure: "install g++" },
    Column {
        name: "tbb",
        probe: "#include <tbb/task_group.h>\nint main() { tbb::task_group g; g.wait(); }",
        flags: &[],
        library: Some("tbb"),
        cure: "install libtbb-dev",
    },
    Column {
        name: "openmp",
        probe: "#include <omp.h>\nint main() { return omp_get_max_threads() == 0; }",
        flags: &["-fopenmp"],
        library: Some("gomp"),
        cure: "install g++ with its OpenMP library",
    },
];

fn main() {
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rerun-if-changed=build.rs");
    for column in &COLUMNS {
        let name = column.name;
        println!("cargo::rustc-check-cfg=cfg(peers_{name})");
        if !links(column) {
            println!("cargo::warning={name} left out: {}", column.cure);
            // A path that does not exist makes the next build check again.
            println!("cargo::rerun-if-changed=cpp/{name}.missing");
            continue;
        }
        compiler(column).file(format!("cpp/{name}.cpp")).compile(&format!("peers_{name}"));
        if let Some(library) = column.library {
            println!("cargo::rustc-link-lib={library}");
        }
        println!("cargo::rustc-cfg=peers_{name}");
    }
}

fn compiler(column: &Column) -> cc::Build {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(2).warnings(true).extra_warnings(true);
    for flag in column.flags {
        build.flag(flag);
    }
    build
}

/// Returns whether the column's probe compiles and links here.
fn links(column: &Column) -> bool {
    let Ok(tool) = compiler(column).cargo_metadata(false).try_get_compiler() else {
        return false;
    };
    let out = env::var("OUT_DIR").expect("Cargo sets OUT_DIR");
    let source = Path::new(&out).join(format!("probe_{}.cpp", column.name));
    fs::write(&source, column.probe).expect("OUT_DIR can be written to");
    let mut command = tool.to_command();
    command.arg(&source).arg("-o").arg(source.with_extension("bin"));
    if let Some(library) = column.library {
        command.arg(format!("-l{library}"));
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
