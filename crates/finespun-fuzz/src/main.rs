//! The `finespun-fuzz` command.
#![forbid(unsafe_code)]

use finespun_fuzz::generate;
use finespun_fuzz::{package::Package, pipeline::*};

fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let bodies: Vec<_> = (0..n).map(|i| generate::body(1, i)).collect();
    if n < 10 {
        for body in &bodies { println!("{}", body.shown()); }
    }
    let dir = std::path::PathBuf::from("/tmp/w/h/gen/target/fuzz");
    let p = Pipeline { package: Package::create(&dir).unwrap(), jobs: 2 };
    let t = std::time::Instant::now();
    let outcomes = p.outcomes(&bodies).unwrap();
    for (b, o) in bodies.iter().zip(&outcomes) {
        println!("{} rejected={:?} refused={:?} wrong={:?}", b.index, o.rejected, o.refused, o.wrong.as_ref().map(|w| format!("{w:?}").chars().take(200).collect::<String>()));
    }
    println!("{:?}", t.elapsed());
}
