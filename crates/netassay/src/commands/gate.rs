//! `netassay gate`: does a stored study keep its bounds against a baseline?

use std::path::Path;
use std::process::ExitCode;

use report::Layout;
use report::document::{markdown, terminal};
use report::views;
use results::gate::{
    Acknowledgement, GateError, GateOutcome, GateRequest, MOST_BYTES, acknowledgements, check_request,
    day_of_instant,
};
use results::{GateCases, PooledCampaigns};
use store::Store;
use study::metric::Metric;

use crate::cli::{Gate, GateFormat};
use crate::commands::fleet::campaign_of;
use crate::commands::stored::{newest_called, study_of};
use crate::commands::study_files::read_text;
use crate::exit;
use crate::failure::{Failure, bail};
use crate::output::{MayReplace, json, print, print_blocks, write};

pub(crate) fn gate(flags: &Gate) -> Result<ExitCode, Failure> {
    let [fail, inconclusive] = match flags.bisect {
        true => [exit::BISECT_BAD, exit::BISECT_SKIP],
        false => [exit::GATE_FAILED, exit::GATE_INCONCLUSIVE],
    };
    let code = match judge(flags) {
        Ok(GateOutcome::Pass) => exit::OK,
        Ok(GateOutcome::Fail) => fail,
        Ok(GateOutcome::Inconclusive) => inconclusive,
        Err(failure) if !flags.bisect => return Err(failure),
        Err(failure) => {
            let is_skipped = matches!(failure, Failure::NotComparable(_));
            let code = if is_skipped { exit::BISECT_SKIP } else { exit::BISECT_STOP + failure.code() };
            failure.report();
            code
        }
    };
    Ok(ExitCode::from(code))
}

fn judge(flags: &Gate) -> Result<GateOutcome, Failure> {
    let confidence = flags.confidence / 100.0;
    // Errors of the command are told before a database is opened.
    check_request(&flags.fail_if, confidence).map_err(failure)?;
    let acknowledged = flags.acknowledged.as_deref().map(acknowledged).transpose()?;
    let request = GateRequest {
        bounds: flags.fail_if.clone(),
        confidence,
        inconclusive: flags.inconclusive,
        require_complete: flags.require_complete,
        acknowledged: acknowledged.unwrap_or_default(),
    };
    let gate = results::gate::GateDecision::judge(cases(flags)?, &request).map_err(failure)?;
    let blocks = views::gate(&gate);
    let layout = Layout { wide: flags.wide, ..Layout::PLAIN };
    let text = match flags.format {
        GateFormat::Text => words::sanitised_lines(&layout.wrap(&terminal(&blocks, layout))).into_owned(),
        GateFormat::Md => markdown(&blocks),
        GateFormat::Junit => views::gate_junit(&gate),
        GateFormat::Json => json(&gate)?,
    };
    if let Some(path) = &flags.output {
        write(path, &text, MayReplace::NamedByUser)?;
    }
    if flags.output.is_some() || flags.format == GateFormat::Text {
        print_blocks(&blocks, flags.wide)?;
    } else {
        print(&text)?;
    }
    Ok(gate.outcome)
}

fn cases(flags: &Gate) -> Result<GateCases, Failure> {
    let metrics = results::distinct(flags.fail_if.iter().map(|bound| bound.metric));
    let store = Store::open_for_outlines(&flags.database.db)?;
    if let Some(word) = &flags.baseline_condition {
        let stored = store.load_with(study_of(&store, flags.study.as_deref())?, &metrics)?.sanitised();
        return Ok(GateCases::within(&stored, word, &metrics)?);
    }
    if flags.fleet {
        return cases_over_pairs(&store, flags, &metrics);
    }
    let baseline = newest_called(&store, flags.baseline.as_deref().unwrap_or_default())?;
    let study = study_of(&store, flags.study.as_deref())?;
    if baseline == study {
        bail!(Usage, "both are study {study}: name another as the baseline, or use --baseline-condition");
    }
    let outline = |id| store.outline(id, |_| metrics.clone());
    let (baseline, study) = (outline(baseline)?.sanitised(), outline(study)?.sanitised());
    Ok(GateCases::between(&baseline, &study, &metrics)?)
}

fn cases_over_pairs(store: &Store, flags: &Gate, metrics: &[Metric]) -> Result<GateCases, Failure> {
    let both = [flags.baseline.as_deref(), flags.study.as_deref()];
    let [baseline, study] = both.map(|word| campaign_of(store, word));
    let (baseline, study) = (baseline?, study?);
    if baseline == study {
        bail!(Usage, "both are campaign {study}: name a study of another campaign as the baseline");
    }
    let rows = [store.pairs(&baseline)?, store.pairs(&study)?];
    let means = |id| Ok::<_, Failure>(store.boot_means(id, |_| metrics.to_vec())?.sanitised());
    let environments = |id| Ok::<_, Failure>(store.environments(id)?.sanitised());
    let pooled = PooledCampaigns::new(&rows, means, environments)?;
    let [Some(baseline), Some(study)] = pooled.outlines.as_slice() else {
        bail!(Internal, "two campaigns with pairs in common have two outlines");
    };
    Ok(GateCases::over_pairs([baseline, study], metrics, &pooled.pairs, &pooled.left_out)?)
}

fn acknowledged(path: &Path) -> Result<Vec<Acknowledgement>, Failure> {
    let text = read_text(path, MOST_BYTES as u64, "a file of acknowledgements")?;
    let today = day_of_instant(store::now_unix_ms());
    acknowledgements(&path.display().to_string(), &text, today)
        .map_err(|error| Failure::Usage(error.to_string()))
}

fn failure(error: GateError) -> Failure {
    match error {
        GateError::Report(error) => error.into(),
        other => Failure::Usage(other.to_string()),
    }
}
