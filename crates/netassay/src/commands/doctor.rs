//! `netassay doctor`: what this machine can do, and what disturbs measurement here.

use std::process::ExitCode;

use crate::cli::{Doctor, Format};
use crate::doctor::Examination;
use crate::exit;
use crate::failure::Failure;
use crate::layout;
use crate::output::{print_json, print_page};
use crate::signals;

pub(crate) fn doctor(flags: &Doctor) -> Result<ExitCode, Failure> {
    let examination = Examination::make(&signals::interrupt()?)?;
    if flags.json || flags.output.format == Format::Json {
        print_json(&examination)?;
    } else {
        let layout = layout::of_standard_output(false);
        print_page(&examination.text(layout), layout)?;
    }
    let code = if examination.can_measure() { exit::OK } else { exit::ENVIRONMENT };
    Ok(ExitCode::from(code))
}
