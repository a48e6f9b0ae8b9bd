//! The command line of `netassay simulate`.

use std::str::FromStr;

use clap::Args;
use clap::builder::PossibleValuesParser;
use stats::Design;
use stats::simulate::{Method, Shape};

use super::common::{DESIGNS, Stored, Tables, one_of};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay simulate\n  netassay simulate --between 0,1 --boots 5 --design crossed --differences 1,2\n  netassay simulate --from-study 3 --metric throughput\n  netassay simulate --sequential looks=5,boots=10 --methods pooled-boot-means"
)]
pub(crate) struct Simulate {
    /// Standard deviations between boots, one column each (crossed: of the effect of a boot on
    /// single conditions) [default: 0,0.25,0.5,1,2]
    #[arg(long, value_name = "SD,...", value_delimiter = ',', conflicts_with = "from_study")]
    pub(crate) between: Vec<f64>,
    /// Standard deviation between the runs of a boot: the unit of the others [default: 1]
    #[arg(long, value_name = "SD", conflicts_with = "from_study")]
    pub(crate) within: Option<f64>,
    /// (crossed) Standard deviation of the effect of a boot on all conditions alike [default: 0]
    #[arg(long, value_name = "SD", conflicts_with = "from_study")]
    pub(crate) shared: Option<f64>,
    /// Take mean, spreads, design and sizes from this stored study (number, tag or name)
    #[arg(long, value_name = "STORED")]
    pub(crate) from_study: Option<String>,
    /// (--from-study) The metric [default: as the study says]
    #[arg(long, requires = "from_study")]
    pub(crate) metric: Option<String>,
    /// Whether boots are shared [default: nested]
    #[arg(long, value_parser = one_of(DESIGNS))]
    pub(crate) design: Option<Design>,
    /// Boots, of each condition if nested [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) boots: Option<usize>,
    /// Runs of each condition in each boot [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<usize>,
    /// Conditions; two are compared, and all contribute to a pooled spread [default: 8]
    #[arg(long, value_name = "N")]
    pub(crate) conditions: Option<usize>,
    /// Differences to find [default: 1, 2 and 4 times the spread between runs; of a study: 1, 2 and
    /// 5 % of the mean]
    #[arg(long, value_name = "D,...", value_delimiter = ',')]
    pub(crate) differences: Vec<f64>,
    /// How the runs of a boot are distributed
    #[arg(long, value_name = "SHAPE", default_value = "normal", value_parser = PossibleValuesParser::new(Shape::ALL.map(Shape::as_str)))]
    pub(crate) shape: String,
    /// The methods to judge by [default: all that fit the design]
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', value_parser = PossibleValuesParser::new(Method::ALL.map(Method::word)))]
    pub(crate) methods: Vec<String>,
    /// Also judge with early looks after equal parts of the boots, such as looks=5 or
    /// looks=5,boots=20
    #[arg(long, value_name = "looks=N[,boots=N]")]
    pub(crate) sequential: Option<Sequential>,
    /// Experiments for each spread and difference
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) experiments: u32,
    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) stored: Stored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sequential {
    pub(crate) looks: u32,
    /// The boots at the last look, if they differ from the others.
    pub(crate) boots: Option<usize>,
}

impl FromStr for Sequential {
    type Err = String;

    fn from_str(text: &str) -> Result<Sequential, String> {
        let (mut looks, mut boots) = (None, None);
        for part in text.split(',') {
            match part.split_once('=') {
                Some(("looks", number)) => looks = number.parse().ok(),
                Some(("boots", number)) => boots = number.parse().ok(),
                _ => return Err(format!("{part:?} is neither looks=N nor boots=N")),
            }
        }
        let is_whole = looks.is_some() && (boots.is_some() || !text.contains("boots="));
        let of = looks.filter(|_| is_whole).map(|looks| Sequential { looks, boots });
        of.ok_or_else(|| "give the number of looks, such as looks=5 or looks=5,boots=20".to_owned())
    }
}
