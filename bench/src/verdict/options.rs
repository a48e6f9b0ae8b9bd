//! The options of `verdict`.

use clap::Args;

/// Options of `verdict`. Spreads are standard deviations in % of the mean; those and the costs are
/// by default what was measured of `udp_stream` on the machine of `README.md`, which others were
/// using.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Instead of protocols: whether the intervals of 2 to 20 conditions hold together where these
    /// spread unequally, simulated
    #[arg(long, conflicts_with = "traffic")]
    pub(crate) families: bool,
    /// Instead: how often looks err without a difference, and how far off the differences are that
    /// they choose. Simulated, 50 times as many experiments where a single comparison is judged
    #[arg(long, conflicts_with = "traffic")]
    pub(crate) looks: bool,
    /// Instead: what pilots of a few boots know of the spread, and what power the sizes have that
    /// are planned from them
    #[arg(long, conflicts_with_all = ["traffic", "looks"])]
    pub(crate) pilots: bool,
    /// Simulated experiments of each protocol and difference
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) experiments: u32,
    /// Spread between boots, common to both conditions
    #[arg(long, default_value_t = 6.4, value_parser = number)]
    pub(crate) boot_sd: f64,
    /// Spread of what a boot does to one condition only
    #[arg(long, default_value_t = 1.1, value_parser = number)]
    pub(crate) interaction: f64,
    /// Spread between runs, however long they are
    #[arg(long, default_value_t = 6.3, value_parser = number)]
    pub(crate) floor: f64,
    /// Spread between runs of 1 s beyond that; it falls with the root of their length
    #[arg(long, default_value_t = 4.6, value_parser = number)]
    pub(crate) white: f64,
    /// Seconds that building a boot takes
    #[arg(long, default_value_t = 0.02, value_parser = number)]
    pub(crate) boot_cost: f64,
    /// Seconds that a run takes beyond ramp and window
    #[arg(long, default_value_t = 0.035, value_parser = number)]
    pub(crate) run_cost: f64,
    /// Measure real traffic too
    #[arg(long)]
    pub(crate) traffic: bool,
    /// Minutes of real traffic
    #[arg(long, default_value_t = 10.0, value_parser = number)]
    pub(crate) minutes: f64,
}

fn number(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=10_000.0).contains(&number) { Ok(number) } else { Err("0 to 10000".to_owned()) }
}
