//! Programs that are loaded, each with the place where it belongs.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use host::bpf::{
    Attached, Instruction, Program, attach_to_function, attach_to_tracepoint, attach_trampoline, load,
};

use crate::object::{Constants, Programs};
use crate::path::At;

/// A program, and where it belongs.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) program: OwnedFd,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) enum Place {
    Tracepoint(CString),
    /// Its kind, which says the function, and its instructions.
    Trampoline(Program, Vec<Instruction>),
    Function(CString, At),
}

impl Loaded {
    pub(crate) fn attach(&mut self) -> io::Result<Attached> {
        match &self.place {
            Place::Tracepoint(name) => attach_to_tracepoint(name, &self.program),
            Place::Trampoline(kind, code) => match attach_trampoline(&self.program) {
                // Old kernels (5.10 does) attach such a program once.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.program = load(*kind, code)?;
                    attach_trampoline(&self.program)
                }
                answer => answer,
            },
            Place::Function(name, at) => attach_to_function(name, *at == At::Return, &self.program),
        }
    }

    /// The function of a kprobe at its entry or its return.
    pub(crate) fn function(&self, side: At) -> Option<&CString> {
        match &self.place {
            Place::Function(name, at) if *at == side => Some(name),
            _ => None,
        }
    }

    pub(crate) fn attached(mut self) -> Result<(Self, Attached), String> {
        let attached = self.attach().map_err(said)?;
        Ok((self, attached))
    }
}

pub(crate) fn raw(
    programs: &Programs,
    name: &str,
    program: &str,
    constants: Constants,
) -> Result<(Loaded, Attached), String> {
    let program = load(Program::RawTracepoint, &programs.copy(program, constants)).map_err(said)?;
    Loaded { program, place: Place::Tracepoint(c_name(name)?) }.attached()
}

pub(crate) fn kprobe(
    programs: &Programs,
    name: &str,
    at: At,
    constants: Constants,
) -> Result<(Loaded, Attached), String> {
    let program = match at {
        At::Entry => "kprobe",
        At::Return => "kretprobe",
    };
    let program = load(Program::Kprobe, &programs.copy(program, constants)).map_err(said)?;
    Loaded { program, place: Place::Function(c_name(name)?, at) }.attached()
}

fn c_name(name: &str) -> Result<CString, String> {
    CString::new(name).map_err(said)
}

pub(crate) fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
