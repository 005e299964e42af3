//! What only some benches take.

/// Options beside those that all benches share.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Extra {
    /// instructions: end with exit code 1 if a count is over its limit, or if nothing can be counted; transports: if a demand
    /// is missed
    #[arg(long)]
    pub check: bool,
    /// suspended: how many tasks wait at the same time
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::args::values::number(1..=100_000_000u64))]
    pub tasks: Option<u64>,
    /// layouts: nodes that objects live on, 1 to 65536; microkernel: nodes and places, 2 to 4096 [default: as in the papers]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::args::values::number(1..=65_536usize))]
    pub nodes: Option<usize>,
    /// layouts: problems as large and as long as in the papers, which takes minutes
    #[arg(long)]
    pub paper: bool,
}
