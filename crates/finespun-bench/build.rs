//! Tells the program which profile it is compiled with: limits and figures hold for `measure` alone.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Cargo names the profile only as its base, debug or release. The folder of the target directory has its own name.
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where to write"));
    let folders: Vec<_> = out.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let build = folders.iter().rposition(|folder| *folder == "build").expect("a build script writes beneath `build`");
    println!("cargo::rustc-env=FINESPUN_PROFILE={}", folders[build - 1]);
}
