//! Functions that `#[finespun::main]` and `#[finespun::test]` compile.
#![forbid(unsafe_code)]
#![deny(warnings)]

use finespun::prelude::*;

#[task]
async fn square(n: u64) -> u64 {
    n * n
}

/// A test with attributes of its own.
#[finespun::test(workers = 1)]
#[should_panic(expected = "assertion failed")]
#[allow(clippy::assertions_on_constants)]
async fn refused() {
    assert!(false);
}

#[finespun::test]
#[ignore = "for the attribute"]
async fn returns() -> Result<(), std::num::ParseIntError> {
    "1".parse::<u64>()?;
    Ok(())
}

mod inner {
    pub(super) const NUMBER: u64 = 3;
}

#[finespun::main(workers = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (a, b) = join!(square(self::inner::NUMBER), square(4));
    assert_eq!(u8::try_from(a + b)?, 25);
    assert_eq!(finespun::runtime::default().workers(), 2);
    Ok(())
}
