//! `netassay gate`: does a stored study keep its bounds against a baseline?

use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use report::Layout;
use report::document::{markdown, terminal};
use report::views;
use results::GateCases;
use results::gate::{
    Acknowledgement, GateError, GateOutcome, GateRequest, MOST_BYTES, acknowledgements, check_request,
    day_of_instant,
};
use store::{Outline, Store};

use crate::cli::{Gate, GateFormat};
use crate::commands::stored::{newest_called, study_of};
use crate::exit;
use crate::failure::Failure;
use crate::output::{json, layout, print, print_page};
use crate::written::{MayReplace, write};

pub(crate) fn gate(flags: &Gate) -> Result<ExitCode, Failure> {
    let judged = judge(flags);
    if !flags.bisect {
        return Ok(ExitCode::from(match judged? {
            GateOutcome::Pass => exit::OK,
            GateOutcome::Fail => exit::GATE_FAILED,
            GateOutcome::Inconclusive => exit::GATE_INCONCLUSIVE,
        }));
    }
    let code = match &judged {
        Ok(GateOutcome::Pass) => exit::OK,
        Ok(GateOutcome::Fail) => exit::BISECT_BAD,
        Ok(GateOutcome::Inconclusive) | Err(Failure::NotComparable(_)) => exit::BISECT_SKIP,
        Err(other) => exit::BISECT_STOP + other.code(),
    };
    if let Err(failure) = judged {
        failure.report();
    }
    Ok(ExitCode::from(code))
}

/// Prints what the gate found.
fn judge(flags: &Gate) -> Result<GateOutcome, Failure> {
    let confidence = flags.confidence / 100.0;
    // What is wrong with the command is said before a database is opened.
    check_request(&flags.fail_if, confidence).map_err(failure)?;
    let acknowledged = flags.acknowledged.as_deref().map(acknowledged).transpose()?;
    let request = GateRequest {
        bounds: flags.fail_if.clone(),
        confidence,
        inconclusive: flags.inconclusive,
        require_complete: flags.require_complete,
        acknowledged: acknowledged.unwrap_or_default(),
    };
    let gate = results::gate::Gate::judge(cases(flags)?, &request).map_err(failure)?;
    let in_format = |layout: Layout| -> Result<String, Failure> {
        Ok(match flags.format {
            GateFormat::Text => layout.wrap(&terminal(&views::gate(&gate), layout)),
            GateFormat::Md => markdown(&views::gate(&gate)),
            GateFormat::Junit => views::gate_junit(&gate),
            GateFormat::Json => json(&gate)?,
        })
    };
    if let Some(path) = &flags.output {
        let written = in_format(Layout { wide: flags.tables.wide, ..Layout::PLAIN })?;
        let written = if flags.format == GateFormat::Text {
            words::sanitised_lines(&written).into_owned()
        } else {
            written
        };
        write(path, &written, MayReplace::NamedByUser)?;
    }
    let layout = layout(flags.tables.wide);
    if flags.output.is_some() || flags.format == GateFormat::Text {
        print_page(&terminal(&views::gate(&gate), layout), layout)?;
    } else {
        print(&in_format(layout)?)?;
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
    let baseline = newest_called(&store, flags.baseline.as_deref().unwrap_or_default())?;
    let study = study_of(&store, flags.study.as_deref())?;
    if baseline == study {
        return Err(Failure::Usage(format!(
            "both are study {study}: a gate needs another study as its baseline, or --baseline-condition"
        )));
    }
    let outline = |id| -> Result<Outline, Failure> {
        Ok(store.outline(id, |_| metrics.clone())?.sanitised())
    };
    Ok(GateCases::between(&outline(baseline)?, &outline(study)?, &metrics)?)
}

/// Reads a file of acknowledgements, as of today.
fn acknowledged(path: &Path) -> Result<Vec<Acknowledgement>, Failure> {
    let read = host::user_file::read(path, MOST_BYTES as u64);
    let bytes = read.map_err(|source| Failure::Read { path: path.to_owned(), source })?;
    let name = path.display().to_string();
    let text = String::from_utf8(bytes)
        .map_err(|error| Failure::Usage(format!("{name} is not UTF-8 text ({error})")))?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let today = day_of_instant(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    acknowledgements(&name, &text, today).map_err(|error| Failure::Usage(error.to_string()))
}

fn failure(error: GateError) -> Failure {
    match error {
        GateError::Report(error) => error.into(),
        other => Failure::Usage(other.to_string()),
    }
}
