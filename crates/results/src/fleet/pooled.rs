//! Campaigns beside each other: each is read as one study in which a pair counts as a boot, so that
//! what compares studies by boots compares campaigns by machines.

use std::collections::{BTreeMap, BTreeSet};

use store::{Outline, PairRow, StudyId};
use study::Plan;
use study::metric::Metric;

use crate::data::error::Error;
use crate::data::matched_conditions::{ConditionSettings, settings_of};
use crate::data::means::mean_by_boot;
use crate::words::phrases::first_of;

/// Campaigns of the pairs that all of them measured.
#[derive(Debug)]
pub struct PooledCampaigns {
    /// The names of these pairs: the boot of a pair has its number here, from 1.
    pub pairs: Vec<String>,
    /// Each campaign as one study: the mean of each pair is one value, in the plan and the
    /// environments of the first pair with the most conditions. `None`: it is left out.
    pub outlines: Vec<Option<Outline>>,
    /// The campaigns, and the pairs of each, that are left out, as sentences without full stops.
    pub left_out: Vec<String>,
}

// The largest number of pairs that are named.
const TOLD: usize = 8;

/// The means of pairs, each over its boots.
#[derive(Default)]
struct PooledValues {
    values: BTreeMap<(Metric, ConditionSettings), Vec<(u32, f64)>>,
    /// The settings of the conditions of the last plan. Most pairs have the same plan.
    last: Option<(Plan, Vec<ConditionSettings>)>,
}

impl PooledCampaigns {
    /// Reads the studies one after the other. `means` gives the means of the boots of a study, of
    /// the metrics that are compared; `environments` a study with its environments.
    ///
    /// # Errors
    /// Errors of reading a study; [`Error::NoCommonPairs`] if no two campaigns share a pair.
    pub fn new<E: From<Error>>(
        campaigns: &[Vec<PairRow>],
        mut means: impl FnMut(StudyId) -> Result<Outline, E>,
        mut environments: impl FnMut(StudyId) -> Result<Outline, E>,
    ) -> Result<Self, E> {
        let measured = |rows: &[PairRow]| -> BTreeMap<String, StudyId> {
            let pairs = rows.iter().filter(|row| row.pair.repeat == 1);
            pairs.filter_map(|row| Some((row.pair.name.clone(), row.study?))).collect()
        };
        let all: Vec<BTreeMap<String, StudyId>> = campaigns.iter().map(|rows| measured(rows)).collect();
        let pairs = common_pairs(&all);
        let mut outlines = Vec::new();
        for studies in &all {
            let (mut base, mut values): (Option<Outline>, _) = (None, PooledValues::default());
            let is_compared = pairs.iter().all(|name| studies.contains_key(name));
            for (number, name) in (1..).zip(pairs.iter().filter(|_| is_compared)) {
                let own = means(studies[name])?;
                values.add(number, &own);
                let most = base.as_ref().map_or(0, |base| base.plan.conditions.len());
                if own.plan.conditions.len() > most {
                    base = Some(own);
                }
            }
            let read = base.map(|base| environments(base.row.id)).transpose()?;
            outlines.push(read.map(|base| values.pooled(base)));
        }
        if outlines.iter().flatten().count() < campaigns.len().min(2) {
            let names = campaigns.iter().flatten().map(|row| row.pair.campaign.clone());
            let campaigns = names.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>().join(", ");
            return Err(Error::NoCommonPairs { campaigns }.into());
        }
        let all = campaigns.iter().zip(&outlines);
        let left_out = all.filter_map(|(rows, outline)| left_out(rows, &pairs, outline.is_some())).collect();
        Ok(Self { pairs, outlines, left_out })
    }
}

/// The pairs of the newest campaign that shares any, and of each earlier one that shares some of
/// the pairs in common so far. The oldest campaign comes first.
fn common_pairs(campaigns: &[BTreeMap<String, StudyId>]) -> Vec<String> {
    let mut common: Option<BTreeSet<&String>> = None;
    for own in campaigns.iter().rev() {
        let is_common = |name: &&String| match &common {
            Some(common) => common.contains(*name),
            None => campaigns.iter().filter(|one| one.contains_key(*name)).count() >= campaigns.len().min(2),
        };
        let shared: BTreeSet<&String> = own.keys().filter(is_common).collect();
        if !shared.is_empty() {
            common = Some(shared);
        }
    }
    common.into_iter().flatten().cloned().collect()
}

fn left_out(rows: &[PairRow], pairs: &[String], is_compared: bool) -> Option<String> {
    let campaign = &rows.first()?.pair.campaign;
    if !is_compared {
        let told = first_of(pairs, TOLD);
        return Some(format!(
            "campaign {campaign} is left out: it did not measure the pairs that the others have in common ({told})"
        ));
    }
    let is_in = |name: &String| pairs.binary_search(name).is_ok();
    let own = rows.iter().map(|row| &row.pair).filter(|pair| pair.repeat == 1 && !is_in(&pair.name));
    let names: Vec<&str> = own.map(|pair| pair.name.as_str()).collect();
    let told = first_of(&names, TOLD);
    (!names.is_empty()).then(|| format!("not every campaign measured these pairs of {campaign}: {told}"))
}

impl PooledValues {
    fn add(&mut self, number: u32, outline: &Outline) {
        if self.last.as_ref().is_none_or(|(plan, _)| *plan != outline.plan) {
            let settings = outline.plan.conditions.iter().map(settings_of).collect();
            self.last = Some((outline.plan.clone(), settings));
        }
        let settings = self.last.iter().flat_map(|(_, settings)| settings);
        for (condition, settings) in settings.enumerate() {
            for (metric, own) in &outline.values {
                let boots = own.iter().filter(|(of, ..)| *of == condition);
                let boots = mean_by_boot(boots.map(|(_, boot, value)| (*boot, *value)));
                if !boots.is_empty() {
                    let mean = stats::mean(&boots.into_values().collect::<Vec<_>>());
                    self.values.entry((*metric, settings.clone())).or_default().push((number, mean));
                }
            }
        }
    }

    /// The campaign as one study, in the plan and the environments of this one.
    fn pooled(&self, mut base: Outline) -> Outline {
        for (condition, settings) in base.plan.conditions.iter().map(settings_of).enumerate() {
            for ((metric, _), own) in self.values.iter().filter(|((_, of), _)| *of == settings) {
                let own = own.iter().map(|(number, mean)| (condition, *number, *mean));
                base.values.entry(*metric).or_default().extend(own);
            }
        }
        base
    }
}
