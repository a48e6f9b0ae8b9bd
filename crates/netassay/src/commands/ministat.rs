//! `netassay ministat`: replaces ministat(1), under its name too. The program itself is in
//! [`samples::ministat`]; this module does its I/O.

mod blocks;
mod input;
mod terminal;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use samples::ministat::{MinistatPlot, MinistatRequest, Rejection, write_all};

const NAME: &str = "ministat";

const HELP: &str = "\
Compares files of numbers by Student's t, as ministat(1) does

Usage: netassay ministat [options] [file [file ...]]

  -A            no plot
  -C COLUMN     the column of the numbers, from 1
  -c LEVEL      confidence in %: 80, 90, 95 (without -c), 98, 99 or 99.5
  -d BYTES      column separators; without -d, spaces and tabs
  -n            no plot and no verdicts
  -s            the bar of each set on a separate line
  -w WIDTH      the plot's width; without -w, the terminal's, or 74

Standard input is read without files and as `-`.
It assumes that runs are independent; where boots differ, `netassay compare` gives verdicts that hold.
";

/// First of all checks: ministat has its own command line, and starts within a millisecond.
pub(crate) fn if_called() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let program = words.next()?;
    if program.as_bytes().rsplit(|byte| *byte == b'/').next() == Some(NAME.as_bytes()) {
        return Some(run(&program, words));
    }
    (words.next()? == NAME).then(|| ministat(words))
}

pub(crate) fn ministat(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.collect();
    if words.first().is_some_and(|word| word == "--help") {
        return ended(print(|out| out.write_all(HELP.as_bytes())));
    }
    run(OsStr::new(NAME), words.into_iter())
}

fn run(program: &OsStr, words: impl Iterator<Item = OsString>) -> ExitCode {
    terminal::end_on_broken_pipe();
    let words: Vec<Vec<u8>> = words.map(OsString::into_vec).collect();
    let posix = std::env::var_os("POSIXLY_CORRECT").is_some();
    let request = MinistatRequest::parse(&words, program.as_bytes(), posix);
    ended(request.and_then(|request| answer(&request)))
}

fn ended(result: Result<(), Rejection>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            // Without standard error nobody can be told.
            let _ = io::stderr().write_all(&refusal.text);
            ExitCode::from(refusal.code)
        }
    }
}

fn answer(request: &MinistatRequest) -> Result<(), Rejection> {
    let (sets, names) = input::read(request)?;
    let width = || request.width.unwrap_or_else(terminal::plot_width);
    let plot = if request.plot { MinistatPlot::new(&sets, width(), request.separate_bars) } else { Ok(None) };
    let plot = plot.map_err(|error| Rejection::other(&error.to_string(), 2))?;
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    print(|out| write_all(out, request, &sets, &names, plot.as_ref()))
}

fn print(write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Rejection> {
    let written = io::stdout().as_fd().try_clone_to_owned().and_then(|stdout| {
        // Not through Rust's line buffer, which would write line by line.
        let mut out = BufWriter::with_capacity(1 << 16, File::from(stdout));
        write(&mut out).and_then(|()| out.flush())
    });
    written.map_err(|error| {
        Rejection::other(&format!("cannot write to standard output: {}", input::reason(&error)), 1)
    })
}
