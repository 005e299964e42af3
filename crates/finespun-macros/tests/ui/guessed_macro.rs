//! A macro that returns, with the name of a macro of std that does not.

use finespun::prelude::*;

macro_rules! todo {
    ($text:literal) => {
        println!($text)
    };
}

#[task]
async fn returns(n: u64) -> u64 {
    match n {
        0 => todo!("nothing"),
        _ => checkpoint().await,
    }
    n
}

fn main() {}
