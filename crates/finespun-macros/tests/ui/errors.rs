//! Results that cannot be sent between threads.

use finespun::prelude::*;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;

#[task]
async fn parsed(text: &str) -> Result<u64, Box<dyn Error>> {
    // cure "Box<dyn Error + Send + Sync>": async fn parsed(text: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
    Ok(text.parse()?)
}

#[task]
async fn number(text: &str) -> Result<u64, std::num::ParseIntError> {
    text.parse()
}

#[task]
async fn sum(a: &str, b: &str) -> Result<u64, Box<dyn Error>> {
    // cure "Box<dyn Error + Send + Sync>": async fn sum(a: &str, b: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let a = number(a).await?;
    Ok(a + number(b).await?)
}

#[task]
async fn counted(n: u64) -> Rc<u64> {
    // cure "`Arc` stands for `Rc`": async fn counted(n: u64) -> Arc<u64> {
    n.into()
}

fn main() {
    let _ = Arc::new(1);
}
