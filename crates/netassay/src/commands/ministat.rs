//! `netassay ministat`: replaces ministat(1), under its name too. The program itself is in
//! [`mod@ministat`]; this module does its I/O.

mod input;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use ministat::{Caller, MinistatError, Plot, Refusal, Request, Set, Style, columns, write_all};

const NAME: &str = "ministat";

const HELP: &str = "\
Compares files of numbers by Student's t, as ministat(1) does

Usage: netassay ministat [options] [file [file ...]]

  -A            no plot
  -C COLUMN     the column of the numbers, from 1
  -c LEVEL      confidence in %: 80, 90, 95 (without -c), 98, 99 or 99.5
  -d BYTES      column separators; without -d, spaces and tabs
  -n            no plot and no verdicts
  -q            (freebsd) no names and no header
  -s            the bar of each set on a separate line
  -w WIDTH      the plot's width; without -w, the terminal's, or 74

  --dialect debian|freebsd   the arithmetic of Debian's version 20150715 (default) or of FreeBSD's
  --modern                   any number of sets, any level, exact quantiles, no ambiguous places in the plot; with
                             FreeBSD's arithmetic unless --dialect says otherwise

Standard input is read without files and as `-`. Started under the name ministat, it knows no long options.
It assumes that runs are independent; where boots differ, `netassay compare` gives verdicts that hold.
";

/// Runs it, if the program has its name or its word comes first. Checked before anything else:
/// ministat has its own command line, and starts within a millisecond.
pub(crate) fn if_called() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let program = words.next()?;
    if program.as_bytes().rsplit(|byte| *byte == b'/').next() == Some(NAME.as_bytes()) {
        return Some(run(&program, words, false));
    }
    (words.next()? == NAME).then(|| ministat(words))
}

pub(crate) fn ministat(words: impl Iterator<Item = OsString>) -> ExitCode {
    run(OsStr::new(NAME), words, true)
}

fn run(program: &OsStr, words: impl Iterator<Item = OsString>, long_options: bool) -> ExitCode {
    // A closed pipe ends the program silently, as other filters. Rust turns that off before `main`.
    // SAFETY: the default action runs no code of this program, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let words: Vec<Vec<u8>> = words.map(OsString::into_vec).collect();
    let caller = Caller {
        program: program.as_bytes(),
        posix: std::env::var_os("POSIXLY_CORRECT").is_some(),
        long_options,
    };
    match Request::parse(&words, caller).and_then(|request| answer(&request)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            // Without standard error nobody can be told.
            let _ = io::stderr().write_all(&refusal.text);
            ExitCode::from(refusal.code)
        }
    }
}

fn answer(request: &Request) -> Result<(), Refusal> {
    if request.help {
        return print(|out| out.write_all(HELP.as_bytes()));
    }
    let (sets, names) = input::read(request)?;
    let plot = if request.plot { plot(request, &sets)? } else { None };
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    print(|out| write_all(out, request, &sets, &names, plot.as_ref()))
}

fn plot(request: &Request, sets: &[Set]) -> Result<Option<Plot>, Refusal> {
    let style = Style {
        width: request.width.unwrap_or_else(plot_width),
        separate_bars: request.separate_bars,
        modern: request.modern,
    };
    Plot::new(sets, style).map_err(|error: MinistatError| Refusal::other(&error.to_string(), 2))
}

fn print(write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Refusal> {
    // Without Rust's line buffer.
    let written = io::stdout().as_fd().try_clone_to_owned().and_then(|output| {
        let mut out = BufWriter::with_capacity(1 << 16, File::from(output));
        write(&mut out).and_then(|()| out.flush())
    });
    written.map_err(|error| {
        Refusal::other(&format!("cannot write to standard output: {}", input::reason(&error)), 1)
    })
}

/// A plot's width where there is no terminal.
const WIDTH: usize = 74;

/// The terminal's width (`COLUMNS`, else what the terminal reports) less the plot's frame.
fn plot_width() -> usize {
    if !io::stdout().is_terminal() {
        return WIDTH;
    }
    let told = std::env::var_os("COLUMNS").and_then(|text| columns(text.as_bytes()));
    told.or_else(|| terminal_columns().map(|columns| columns - 2)).unwrap_or(WIDTH)
}

/// The terminal's columns, if a plot fits.
fn terminal_columns() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel writes a winsize, which the pointer points to.
    let result = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 3).then_some(usize::from(size.ws_col))
}
