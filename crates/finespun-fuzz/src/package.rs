//! The scratch package and its files.
//!
//! ```text
//! DIR/Cargo.toml, Cargo.lock   path dependency on finespun, renamed; the workspace's versions and its toolchain
//! DIR/src/lib.rs, ..           support library of the bodies (the folder `scratch` of this crate)
//! DIR/src/bodies/B/FORM.rs     one body in one form
//! DIR/src/bin/cK.rs            a program of some bodies
//! DIR/target                   kept between runs, so that finespun is compiled once
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::body::{Body, Form};
use crate::failure::Failure;

const SUPPORT: [(&str, &str); 7] = [
    ("lib.rs", include_str!("../scratch/lib.rs")),
    ("trace.rs", include_str!("../scratch/trace.rs")),
    ("values.rs", include_str!("../scratch/values.rs")),
    ("leaves.rs", include_str!("../scratch/leaves.rs")),
    ("plain.rs", include_str!("../scratch/plain.rs")),
    ("tasks.rs", include_str!("../scratch/tasks.rs")),
    ("compare.rs", include_str!("../scratch/compare.rs")),
];

/// A scratch package.
#[derive(Debug)]
pub struct Package {
    dir: PathBuf,
    /// The lock on the package while it is in use.
    _lock: Option<fs::File>,
}

impl Package {
    /// Writes the package without bodies.
    pub fn create(dir: &Path) -> Result<Package, Failure> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workspace = workspace.canonicalize().map_err(|source| Failure::Read { path: workspace, source })?;
        let mut package = Package { dir: std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf()), _lock: None };
        let finespun = workspace.join("crates/finespun");
        let manifest = format!(
            "[package]\nname = \"finespun-fuzz-scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             [dependencies]\nfs = {{ package = \"finespun\", path = {finespun:?} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\n\
             [profile.dev]\ndebug = false\nincremental = false\n\n\
             [profile.dev.build-override]\nopt-level = 1\n\n[workspace]\n"
        );
        let path = package.dir.join("lock");
        let file = |source| Failure::Dir { path: package.dir.clone(), source };
        fs::create_dir_all(&package.dir).map_err(file)?;
        let held = fs::File::create(&path).map_err(file)?;
        if held.try_lock().is_err() {
            eprintln!("waiting for another run in {}; --dir names another folder", package.dir.display());
            held.lock().map_err(file)?;
        }
        package._lock = Some(held);
        package.write("Cargo.toml", &manifest)?;
        // Cargo adds the scratch package to its copy, so a copy of the original is kept beside it.
        let path = workspace.join("Cargo.lock");
        let lock = fs::read_to_string(&path).map_err(|source| Failure::Read { path, source })?;
        if package.write("workspace.lock", &lock)? || !package.dir.join("Cargo.lock").exists() {
            package.write("Cargo.lock", &lock)?;
        }
        // The folder may be outside the workspace, and the toolchain must be the workspace's.
        let toolchain = workspace.join("rust-toolchain.toml");
        if let Ok(text) = fs::read_to_string(&toolchain) {
            package.write("rust-toolchain.toml", &text)?;
        }
        for (name, text) in SUPPORT {
            package.write(&format!("src/{name}"), text)?;
        }
        Ok(package)
    }

    /// Returns the folder of the package.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the folder of compiled files.
    pub fn target(&self) -> PathBuf {
        self.dir.join("target")
    }

    /// Returns the path of a program.
    pub fn program(&self, chunk: usize) -> PathBuf {
        self.target().join(format!("debug/c{chunk}"))
    }

    /// Removes all bodies.
    pub fn clear(&self) -> Result<(), Failure> {
        for folder in ["src/bin", "src/bodies"] {
            let path = self.dir.join(folder);
            if path.exists() {
                fs::remove_dir_all(&path).map_err(|source| Failure::File { path, source })?;
            }
        }
        Ok(())
    }

    /// Writes a program of bodies, each in its forms; a body without forms in the plain form only.
    pub fn program_of(&self, chunk: usize, bodies: &[(String, &Body, Vec<Form>)], run: bool) -> Result<(), Failure> {
        let mut text = "#![allow(warnings, unconditional_panic, arithmetic_overflow, clippy::all)]\n\
                        use finespun_fuzz_scratch::compare::{Case, go, show};\n"
            .to_string();
        let mut cases = String::new();
        for (name, body, forms) in bodies {
            self.write(&format!("src/bodies/{name}/plain.rs"), &body.plain())?;
            let mut modules = String::new();
            let mut file = |form: &str| {
                modules += &format!("    #[path = \"../bodies/{name}/{form}.rs\"]\n    pub mod {form};\n");
            };
            file("plain");
            let mut entries = String::new();
            for &form in forms {
                self.write(&format!("src/bodies/{name}/{}.rs", form.name()), &body.module(form))?;
                file(form.name());
                let call = body.call(Some(form));
                entries += &format!("            (\"{}\", |r, t, n| show(t, go(r, {call}))),\n", form.name());
            }
            let call = body.call(None);
            text += &format!(
                "#[path = \".\"]\nmod {name} {{\n    use finespun_fuzz_scratch::{{compare::*, plain::block_on, values::*}};\n{modules}"
            );
            if run {
                text += &format!(
                    "    pub const CASE: Case = Case {{\n        name: \"{name}\",\n        \
                     plain: |t, n| show(t, block_on({call})),\n        forms: &[\n{entries}        ],\n    }};\n"
                );
            }
            text += "}\n";
            cases += &format!("{name}::CASE, ");
        }
        if !run {
            cases.clear();
        }
        text += &format!("fn main() {{\n    finespun_fuzz_scratch::compare::main(&[{cases}]);\n}}\n");
        self.write(&format!("src/bin/c{chunk}.rs"), &text).map(drop)
    }

    /// Writes a file unless it has that text already; returns true if it did not.
    fn write(&self, name: &str, text: &str) -> Result<bool, Failure> {
        let path = self.dir.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(false);
        }
        let parent = path.parent().unwrap_or(&self.dir);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map(|()| true)
            .map_err(|source| Failure::File { path, source })
    }
}
