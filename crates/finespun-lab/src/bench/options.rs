//! What only some benches take.

/// Options beside those that all benches share.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Extra {
    /// instructions: end with exit code 1 if a count is over its limit, or if nothing can be counted
    #[arg(long)]
    pub check: bool,
    /// suspended: how many tasks wait at the same time
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::args::values::number(1..=100_000_000u64))]
    pub tasks: Option<u64>,
}
