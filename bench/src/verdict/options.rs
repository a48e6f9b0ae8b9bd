//! The options of `verdict`.

use clap::Args;

/// Options of `verdict`. Spreads are standard deviations in % of the mean; those and the costs are
/// by default what `components` saw of `udp_stream` on the machine of `README.md`, which others
/// were using.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Instead of protocols: whether the intervals of 2 to 20 conditions hold together where these
    /// spread unequally, simulated
    #[arg(long, conflicts_with = "traffic")]
    pub(crate) families: bool,
    /// Simulated experiments of each protocol and difference
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) experiments: u32,
    /// Spread between boots, common to both conditions
    #[arg(long, default_value_t = 6.4, value_parser = spread)]
    pub(crate) boot_sd: f64,
    /// Spread of what a boot does to one condition only
    #[arg(long, default_value_t = 1.1, value_parser = spread)]
    pub(crate) interaction: f64,
    /// Spread between runs, however long they are
    #[arg(long, default_value_t = 6.3, value_parser = spread)]
    pub(crate) floor: f64,
    /// Spread between runs of 1 s beyond that; it falls with the root of their length
    #[arg(long, default_value_t = 4.6, value_parser = spread)]
    pub(crate) white: f64,
    /// Seconds that building a boot takes
    #[arg(long, default_value_t = 0.02, value_parser = seconds)]
    pub(crate) boot_cost: f64,
    /// Seconds that a run takes beyond ramp and window
    #[arg(long, default_value_t = 0.035, value_parser = seconds)]
    pub(crate) run_cost: f64,
    /// (c): the most boots; left out: planned for the difference
    #[arg(long, requires = "runs", value_parser = clap::value_parser!(u32).range(6..=1000))]
    pub(crate) boots: Option<u32>,
    /// (c): recorded runs of each condition in each boot; left out: planned
    #[arg(long, requires = "boots", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: Option<u32>,
    /// (c): the probability, as planned, that the difference is proven
    #[arg(long, default_value_t = 0.9, value_parser = power)]
    pub(crate) power: f64,
    /// (c): from the threads' start to the window, in seconds
    #[arg(long, default_value_t = 0.1, value_parser = seconds)]
    pub(crate) ramp: f64,
    /// (c): the window of each run, in seconds
    #[arg(long, default_value_t = 0.2, value_parser = length)]
    pub(crate) window: f64,
    /// Instead: how often looks err without a difference, and how far off the differences are that
    /// they choose. Simulated, 50 times as many experiments where a single comparison is judged
    #[arg(long, conflicts_with = "traffic")]
    pub(crate) looks: bool,
    /// Instead: what pilots of a few boots know of the spread, and what power the sizes have that
    /// are planned from them
    #[arg(long, conflicts_with_all = ["traffic", "looks"])]
    pub(crate) pilots: bool,
    /// Measure real traffic too
    #[arg(long)]
    pub(crate) traffic: bool,
    /// Minutes of real traffic
    #[arg(long, default_value_t = 10.0, value_parser = minutes)]
    pub(crate) minutes: f64,
    /// The windows of R1's protocol on real traffic, in seconds; the original's are 10
    #[arg(long, default_value_t = 0.5, value_parser = length)]
    pub(crate) r1_window: f64,
}

/// A spread in %, for the command line.
fn spread(text: &str) -> Result<f64, String> {
    between(text, 0.0, 100.0, "0 to 100 %")
}

/// A time in seconds, for the command line.
fn seconds(text: &str) -> Result<f64, String> {
    between(text, 0.0, 600.0, "0 to 600 seconds")
}

/// A time in minutes, for the command line.
fn minutes(text: &str) -> Result<f64, String> {
    between(text, 0.1, 10_000.0, "0.1 to 10000 minutes")
}

/// A run's length in seconds, for the command line.
fn length(text: &str) -> Result<f64, String> {
    between(text, 0.001, 600.0, "0.001 to 600 seconds")
}

/// A probability that can be planned for, for the command line.
fn power(text: &str) -> Result<f64, String> {
    between(text, 0.06, 0.999, "0.06 to 0.999")
}

fn between(text: &str, low: f64, high: f64, range: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (low..=high).contains(&number) { Ok(number) } else { Err(range.to_owned()) }
}
