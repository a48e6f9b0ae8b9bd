//! The programs that stamp packets, compiled by clang (`bpf/path.bpf.c`), fitted to a kernel.

use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::{fs, io};

use aya_obj::generated::bpf_insn;
use aya_obj::{Object, btf};
use host::bpf::{Attached, Instruction, Map, MapKind, Program, attach, attach_to_function, load};

use crate::path::At;
use crate::resolve::BTF;
use crate::tracer::TraceError;

// The output of clang. `cargo xtask bpf` compiles it again.
#[repr(align(8))]
struct Aligned<T: ?Sized>(T);
static COMPILED: &Aligned<[u8]> = &Aligned(*include_bytes!("../bpf/path.o"));

/// The programs with one kernel's offsets of fields, and that kernel's types.
pub struct KernelPrograms {
    object: Object,
    pub(crate) types: btf::Btf,
}

/// Maps of programs, by their names in `bpf/path.bpf.c`.
pub(crate) type Maps = BTreeMap<String, Map>;

// The numbers in whose place the constants of a copy are put (`CONSTANT` in `bpf/maps.h`).
const MARK: u64 = 0x6e65_7461_7373_6100;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Constants {
    pub(crate) point: u64,
    pub(crate) last: u64,
    pub(crate) call: u64,
    pub(crate) trying: u64,
    pub(crate) phase: u64,
    pub(crate) first: u64,
    pub(crate) packet: u64,
    // One in this many journeys leaves the kernel; 0: none.
    pub(crate) every: u64,
}

impl KernelPrograms {
    /// Fits the programs to the running kernel.
    ///
    /// # Errors
    /// [`TraceError`].
    pub fn running() -> Result<Self, TraceError> {
        let types = fs::read(format!("/{BTF}")).map_err(|error| {
            TraceError(format!("/{BTF} cannot be read: {error}: the kernel needs CONFIG_DEBUG_INFO_BTF"))
        })?;
        let mut object = Object::parse(&COMPILED.0).map_err(TraceError::misfit)?;
        let types = btf::Btf::parse(&types, object.endianness).map_err(TraceError::misfit)?;
        // The fields that programs read are at other offsets in each kernel.
        object.relocate_btf(&types).map_err(TraceError::misfit)?;
        Ok(Self { object, types })
    }

    /// A copy of the programs with maps of their own, the ring of so many bytes.
    pub(crate) fn programs(&self, ring: u32) -> Result<(Object, Maps), TraceError> {
        let mut object = self.object.clone();
        let mut maps = Maps::new();
        for (name, map) in &object.maps {
            let kind = MapKind::from_number(map.map_type()).expect("bpf/path.bpf.c has no other kinds");
            // `bpf/maps.h` leaves the size of the ring to the loader.
            let entries = if kind == MapKind::Ring { ring } else { map.max_entries() };
            let made = Map::new(kind, map.key_size() as usize, map.value_size() as usize, entries)
                .map_err(|error| TraceError::misfit(format_args!("map {name}: {error}")))?;
            maps.insert(name.clone(), made);
        }
        let described = self.object.maps.iter();
        let named = described.map(|(name, map)| (name.as_str(), maps[name].number(), map));
        object.relocate_maps(named, &HashSet::new()).map_err(TraceError::misfit)?;
        Ok((object, maps))
    }
}

pub(crate) fn instructions(programs: &Object, name: &str, constants: Constants) -> Vec<Instruction> {
    let program = &programs.programs[name];
    let code = &programs.functions[&program.function_key()].instructions;
    let instruction =
        |insn: &bpf_insn| Instruction(insn.code, insn.src_reg() << 4 | insn.dst_reg(), insn.off, insn.imm);
    patched(code.iter().map(instruction).collect(), constants)
}

fn patched(mut code: Vec<Instruction>, constants: Constants) -> Vec<Instruction> {
    const LOAD_NUMBER: u8 = 0x18;
    let Constants { point, last, call, trying, phase, first, packet, every } = constants;
    let numbers = [point, last, call, trying, phase, first, packet, every];
    // A load of 64 bits is two instructions with half of the number each; with a source register it
    // loads a map.
    for at in 0..code.len().saturating_sub(1) {
        if code[at].0 != LOAD_NUMBER || code[at].1 >> 4 != 0 {
            continue;
        }
        let number = u64::from(code[at].3 as u32) | u64::from(code[at + 1].3 as u32) << 32;
        let which = number.wrapping_sub(MARK + 1);
        if let Some(constant) = usize::try_from(which).ok().and_then(|which| numbers.get(which)) {
            code[at].3 = *constant as u32 as i32;
            code[at + 1].3 = (*constant >> 32) as u32 as i32;
        }
    }
    code
}

pub(crate) struct LoadedProgram {
    // None: it tells interruptions, which any probes need.
    pub(crate) point: Option<u8>,
    pub(crate) place: AttachPoint,
    pub(crate) program: OwnedFd,
    pub(crate) attached: Option<Attached>,
}

pub(crate) enum AttachPoint {
    Tracepoint(CString),
    Trampoline(Program, Vec<Instruction>),
    Function(CString, At),
}

impl LoadedProgram {
    pub(crate) fn attach(&mut self) -> io::Result<()> {
        self.attached = Some(match &self.place {
            AttachPoint::Tracepoint(name) => attach(Some(name), &self.program),
            AttachPoint::Trampoline(kind, code) => match attach(None, &self.program) {
                // Old kernels (5.10 does) attach such a program once.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.program = load(*kind, code)?;
                    attach(None, &self.program)
                }
                answer => answer,
            },
            AttachPoint::Function(name, at) => attach_to_function(name, *at == At::Return, &self.program),
        }?);
        Ok(())
    }

    pub(crate) fn function(&self, side: At) -> Option<&CString> {
        match &self.place {
            AttachPoint::Function(name, at) if *at == side => Some(name),
            _ => None,
        }
    }
}

/// The program at its place, or why it cannot be there.
pub(crate) type Loaded = Result<LoadedProgram, TraceError>;

pub(crate) fn at_tracepoint(programs: &Object, name: &str, program: &str, constants: Constants) -> Loaded {
    let place = AttachPoint::Tracepoint(CString::new(name).map_err(TraceError::plain)?);
    load_at(Program::RawTracepoint, &instructions(programs, program, constants), place)
}

pub(crate) fn load_at(kind: Program, code: &[Instruction], place: AttachPoint) -> Loaded {
    let program = load(kind, code).map_err(TraceError::plain)?;
    // Only attaching tells whether the place can be had.
    let mut loaded = LoadedProgram { point: None, place, program, attached: None };
    loaded.attach().map_err(TraceError::plain)?;
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_replace_their_marks_and_nothing_else() {
        let load = |register: u8, number: u64| {
            [
                Instruction(0x18, register, 0, number as u32 as i32),
                Instruction(0, 0, 0, (number >> 32) as u32 as i32),
            ]
        };
        let exit = Instruction(0x95, 0, 0, 0);
        let code = [load(1, MARK + 1), load(2, MARK + 3), load(3, MARK + 9), load(4, 7), load(0x11, 5)];
        let code: Vec<Instruction> = code.into_iter().flatten().chain([exit]).collect();
        let constants = Constants { point: 9, last: 12, call: 5 << 40, ..Constants::default() };
        let expected = [load(1, 9), load(2, 5 << 40), load(3, MARK + 9), load(4, 7), load(0x11, 5)];
        let expected: Vec<Instruction> = expected.into_iter().flatten().chain([exit]).collect();
        assert_eq!(patched(code, constants), expected);
    }
}
