//! Passes the name of the cargo profile to the program: limits and figures hold for some profiles only.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Cargo's `PROFILE` is only the base, `debug` or `release`. The full name only appears as a folder of the target
    // directory.
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where to write"));
    let folders: Vec<_> = out.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let build = folders.iter().rposition(|folder| *folder == "build").expect("a build script writes beneath `build`");
    println!("cargo::rustc-env=FINESPUN_PROFILE={}", folders[build - 1]);
}
