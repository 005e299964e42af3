//! A walk through a folder: how many files have which extension, and how long they are together.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

use rayon::prelude::*;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "walk", about: "number and size of 5,000 files per extension, a task per folder", make };

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let folder = Arc::new(Folder::make(size.pick(200, 5_000)).expect("the folder for temporary files can be written"));
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (folder.clone(), folder.clone(), folder);
    vec![
        Form::new("plain", move || checksum(plain_walk(&plain.path))),
        Form::new("finespun", move || checksum(finespun.run(finespun_form::walk(ours.path.clone())))),
        Form::new("rayon", move || checksum(rayon.install(|| rayon_walk(&theirs.path)))),
    ]
}

/// A folder for temporary files; dropping it removes it.
struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes a tree of folders with `files` files.
    fn make(files: usize) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = Self { path: env::temp_dir().join(format!("peers-walk-{}-{number}", process::id())) };
        fs::create_dir(&folder.path)?;
        let mut random = Random::new(1);
        let mut folders = vec![folder.path.clone()];
        for file in 0..files {
            if random.below(12) == 0 {
                let inner = folders[random.below(folders.len())].join(format!("folder{file}"));
                fs::create_dir(&inner)?;
                folders.push(inner);
            }
            let extension = ["rs", "toml", "md", "txt", "html", "json"][random.below(6)];
            let path = folders[random.below(folders.len())].join(format!("file{file}.{extension}"));
            fs::write(path, vec![b'x'; random.below(2_000)])?;
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing is lost if the files stay until the system removes them.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What a walk counts, per extension.
#[derive(Default)]
struct Counts(HashMap<OsString, Count>);

#[derive(Default)]
struct Count {
    files: u64,
    bytes: u64,
}

impl Counts {
    fn add(&mut self, path: &Path, bytes: u64) {
        let count = self.0.entry(path.extension().unwrap_or_default().to_owned()).or_default();
        count.files += 1;
        count.bytes += bytes;
    }

    fn merge(mut self, other: Counts) -> Counts {
        for (extension, Count { files, bytes }) in other.0 {
            let count = self.0.entry(extension).or_default();
            count.files += files;
            count.bytes += bytes;
        }
        self
    }
}

fn checksum(counts: io::Result<Counts>) -> u64 {
    let counts = counts.expect("the folder can be read").0;
    let of = |(extension, count): (&OsString, &Count)| {
        let weight = extension.as_encoded_bytes().iter().fold(7, |sum, &byte| sum * 31 + u64::from(byte));
        weight.wrapping_mul(count.files << 32 ^ count.bytes)
    };
    counts.iter().map(of).fold(0, u64::wrapping_add)
}

fn plain_walk(folder: &Path) -> io::Result<Counts> {
    let mut counts = Counts::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            counts = counts.merge(plain_walk(&entry.path())?);
        } else {
            counts.add(&entry.path(), entry.metadata()?.len());
        }
    }
    Ok(counts)
}

mod finespun_form {
    use std::path::PathBuf;
    use std::{fs, io};

    use finespun::prelude::*;

    use super::Counts;

    #[task]
    pub async fn walk(folder: PathBuf) -> io::Result<Counts> {
        let mut counts = Counts::default();
        let mut inner = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                inner.push(entry.path());
            } else {
                counts.add(&entry.path(), entry.metadata()?.len());
            }
        }
        for found in join_all(inner.into_iter().map(walk)).await {
            counts = counts.merge(found?);
        }
        Ok(counts)
    }
}

fn rayon_walk(folder: &Path) -> io::Result<Counts> {
    let mut counts = Counts::default();
    let mut inner = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            inner.push(entry.path());
        } else {
            counts.add(&entry.path(), entry.metadata()?.len());
        }
    }
    let found = inner.par_iter().map(|path| rayon_walk(path)).try_reduce(Counts::default, |a, b| Ok(a.merge(b)))?;
    Ok(counts.merge(found))
}
