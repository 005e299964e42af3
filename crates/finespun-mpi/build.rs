//! Compiles the C shim with the MPI library's compiler wrapper, if the feature `mpi` is on.

fn main() {
    println!("cargo::rerun-if-changed=src/shim.c");
    println!("cargo::rerun-if-env-changed=MPICC");
    #[cfg(feature = "mpi")]
    mpi::build();
}

#[cfg(feature = "mpi")]
mod mpi {
    use std::process::{Command, exit};

    /// The packages that contain the wrapper.
    const CURE: &str =
        "install libmpich-dev and mpich, or libopenmpi-dev and openmpi-bin, or name the wrapper by MPICC";

    pub fn build() {
        let wrapper = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
        // Both MPICH and Open MPI print the command that the wrapper would execute.
        let shown = match Command::new(&wrapper).arg("-show").output() {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            Ok(output) => fail(&format!("`{wrapper} -show` has failed: {}", String::from_utf8_lossy(&output.stderr))),
            Err(error) => fail(&format!("the compiler wrapper `{wrapper}` of MPI cannot be started ({error}): {CURE}")),
        };
        let mut build = cc::Build::new();
        build.file("src/shim.c").opt_level(2).warnings(true).extra_warnings(true);
        for word in shown.split_whitespace() {
            if let Some(folder) = word.strip_prefix("-I") {
                build.include(folder);
            } else if let Some(folder) = word.strip_prefix("-L") {
                println!("cargo::rustc-link-search=native={folder}");
            }
        }
        build.compile("finespun_mpi_shim");
        // After the shim, which needs them.
        for library in shown.split_whitespace().filter_map(|word| word.strip_prefix("-l")) {
            println!("cargo::rustc-link-lib=dylib={library}");
        }
    }

    fn fail(text: &str) -> ! {
        println!("cargo::error={text}");
        exit(1);
    }
}
