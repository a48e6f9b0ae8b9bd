//! Rules by which a counter may explain an effect.

use stats::mean;
use store::Metrics;
use study::metric::{self, Metric};
use study::{BySide, Side};

use super::Explanation;
use crate::words::number::{percent, rounded};

pub(super) const PERCENT: f64 = 100.0;
// A part of a counter from this share of it on is worth a word.
const PART: f64 = 0.5;

/// The subject of a counter; of several about the same subject only the most telling is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CounterSubject {
    Batches,
    Timers,
    OtherCpus,
    Losses,
    Waits,
}

pub(super) struct ExplanationRule {
    pub(super) about: CounterSubject,
    /// Of each side, as the others here.
    pub(super) counter: BySide<Metric>,
    /// Divided by this metric, times the factor; `None`: it is a figure by itself.
    pub(super) per: Option<(BySide<Metric>, f64)>,
    /// More of it costs performance, else it helps.
    pub(super) costs: bool,
    pub(super) words: &'static str,
    /// Figures up to this are too small to matter, and count as this one.
    pub(super) floor: f64,
    /// The least factor between the two.
    pub(super) factor: f64,
    /// A metric that counts a part of this one, and the words for that part after its share.
    pub(super) part: Option<(BySide<Metric>, &'static str)>,
    pub(super) explains: fn(Metric) -> bool,
}

pub(super) type BootMeans<'m> = &'m [Metrics];

impl ExplanationRule {
    /// The subject, the weight and the reason, if the counter differs as the effect does.
    pub(super) fn reason(
        &self,
        side: Side,
        is_worse: bool,
        boots: [BootMeans<'_>; 2],
    ) -> Option<(CounterSubject, f64, Explanation)> {
        let counter = self.counter[side];
        let figures = |boots: BootMeans<'_>| -> Option<Vec<f64>> {
            boots.iter().map(|means| self.figure(side, means)).collect()
        };
        let both = [figures(boots[0])?, figures(boots[1])?];
        let least = self.factor_between(is_worse, &both)?;
        if self.per.is_none() && self.costs {
            // A rate may be higher only because more was done.
            let per_work = |place: usize| -> Option<f64> {
                let figures = both[place].iter().zip(boots[place]);
                let per_work = figures.map(|(figure, means)| Some(figure / work(means)?));
                Some(mean(&per_work.collect::<Option<Vec<f64>>>()?))
            };
            let (value, baseline) = (per_work(0)?, per_work(1)?);
            let ratio = if is_worse { value / baseline } else { baseline / value };
            if ratio < self.factor {
                return None;
            }
        }
        let more = if is_worse == self.costs { boots[0] } else { boots[1] };
        let part = self.part(side, more).unwrap_or_default();
        let [value, baseline] = both.map(|figures| mean(&figures));
        let words = self.words.replace('@', side.word());
        let sentence = format!("with {} against {} {words}{part}", rounded(value), rounded(baseline));
        Some((self.about, least.ln() / self.factor.ln(), Explanation { counter, value, baseline, sentence }))
    }

    fn figure(&self, side: Side, means: &Metrics) -> Option<f64> {
        let counted = means.get(self.counter[side])?;
        let figure = match self.per {
            None => counted,
            Some((per, scale)) => {
                means.get(per[side]).filter(|per| *per > 0.0).map(|per| counted * scale / per)?
            }
        };
        // Above 100 %: a packet held many of what is counted, and the two are no shares.
        let is_share = self.per.is_some_and(|(_, scale)| scale == PERCENT);
        (figure.is_finite() && !(is_share && figure > PERCENT)).then_some(figure)
    }

    /// `None` if it is not enough.
    fn factor_between(&self, is_worse: bool, [value, baseline]: &[Vec<f64>; 2]) -> Option<f64> {
        let [high, low] = if is_worse == self.costs { [value, baseline] } else { [baseline, value] };
        if high.is_empty() || low.is_empty() {
            return None;
        }
        let least = high.iter().copied().fold(f64::INFINITY, f64::min);
        let most = low.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let factor = mean(high).max(self.floor) / mean(low).max(self.floor);
        // One boot that says otherwise is enough to explain nothing.
        (least > most && factor.is_finite() && factor >= self.factor).then_some(factor)
    }

    /// The part's share in the condition that has more of the counter, where it is most of it.
    fn part(&self, side: Side, boots: BootMeans<'_>) -> Option<String> {
        let (part, words) = self.part?;
        let sum = |of: BySide<Metric>| -> f64 { boots.iter().filter_map(|means| means.get(of[side])).sum() };
        let share = sum(part) / sum(self.counter);
        (share >= PART).then(|| format!(", {} % of which {words}", percent((share * 100.0).min(100.0))))
    }
}

/// The work of a second of a boot's windows, whatever the workload counts it in.
fn work(means: &Metrics) -> Option<f64> {
    let done = [metric::THROUGHPUT, metric::PACKETS, metric::TRANSACTIONS]
        .into_iter()
        .find_map(|rate| means.get(rate));
    done.filter(|done| *done > 0.0)
}
