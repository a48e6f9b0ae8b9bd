//! Programs that are loaded, each with the place where it belongs.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use host::bpf::{
    Attached, Instruction, Program, attach_to_function, attach_to_tracepoint, attach_trampoline, load,
};

use crate::object::{Constants, Programs};
use crate::path::At;

#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) program: OwnedFd,
    pub(crate) place: AttachPoint,
}

#[derive(Debug)]
pub(crate) enum AttachPoint {
    Tracepoint(CString),
    /// Its kind, which says the function, and its instructions.
    Trampoline(Program, Vec<Instruction>),
    Function(CString, At),
}

impl Loaded {
    pub(crate) fn attach(&mut self) -> io::Result<Attached> {
        match &self.place {
            AttachPoint::Tracepoint(name) => attach_to_tracepoint(name, &self.program),
            AttachPoint::Trampoline(kind, code) => match attach_trampoline(&self.program) {
                // Old kernels (5.10 does) attach such a program once.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.program = load(*kind, code)?;
                    attach_trampoline(&self.program)
                }
                answer => answer,
            },
            AttachPoint::Function(name, at) => attach_to_function(name, *at == At::Return, &self.program),
        }
    }

    /// The function of a kprobe at its entry or its return.
    pub(crate) fn function(&self, side: At) -> Option<&CString> {
        match &self.place {
            AttachPoint::Function(name, at) if *at == side => Some(name),
            _ => None,
        }
    }

    pub(crate) fn attached(mut self) -> Result<(Self, Attached), String> {
        let attached = self.attach().map_err(error_text)?;
        Ok((self, attached))
    }
}

pub(crate) fn raw(
    programs: &Programs,
    name: &str,
    program: &str,
    constants: Constants,
) -> Result<(Loaded, Attached), String> {
    let program = load(Program::RawTracepoint, &programs.copy(program, constants)).map_err(error_text)?;
    Loaded { program, place: AttachPoint::Tracepoint(c_name(name)?) }.attached()
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
    let program = load(Program::Kprobe, &programs.copy(program, constants)).map_err(error_text)?;
    Loaded { program, place: AttachPoint::Function(c_name(name)?, at) }.attached()
}

fn c_name(name: &str) -> Result<CString, String> {
    CString::new(name).map_err(error_text)
}

pub(crate) fn error_text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
