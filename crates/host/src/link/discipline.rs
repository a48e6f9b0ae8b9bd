//! Queueing disciplines as the kernel reports them, and their rates.

use netlink_packet_core::{DecodeError, Emitable, NlasIterator, parse_string, parse_u32, parse_u64};
use netlink_packet_route::tc::TcHeader;
use nix::libc;

/// One queueing discipline or class: a payload of `RTM_NEWQDISC` or `RTM_NEWTCLASS`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discipline {
    /// The interface's index.
    pub index: u32,
    /// Its number; the major half is the discipline's, the minor half the class's.
    pub handle: u32,
    /// Its parent; [`Discipline::ROOT`] at the top.
    pub parent: u32,
    /// Its kind: `tbf`, `htb`, `noqueue` …
    pub kind: String,
    /// Its rate limit, in bits/s: of `tbf` its rate, of a class of `htb` its ceiling.
    pub rate_bits: Option<u64>,
    /// (`htb`) the class, in the minor half, for packets that no filter classifies.
    pub default_class: Option<u32>,
}

// The linked parsers return the options of these two kinds as bytes.
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_CEIL64: u16 = 7;
// `struct tc_ratespec`: cell_log, linklayer (8 bits each), overhead, cell_align, mpu (16 bits
// each), rate in bytes/s.
const RATE_SPEC: usize = 12;

impl Discipline {
    /// The parent of the root (`TC_H_ROOT`).
    pub const ROOT: u32 = 0xffff_ffff;

    /// Reads one payload. Skips options of other kinds, and numbers that are too short.
    ///
    /// # Errors
    /// A short header, or attributes with wrong lengths.
    pub fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        let header = TcHeader::parse(payload)?;
        let mut discipline = Self {
            index: header.index.cast_unsigned(),
            handle: header.handle.into(),
            parent: header.parent.into(),
            ..Self::default()
        };
        let mut options = Vec::new();
        for attribute in NlasIterator::new(&payload[header.buffer_len()..]) {
            let attribute = attribute?;
            match attribute.kind() {
                libc::TCA_KIND => discipline.kind = parse_string(attribute.value()).unwrap_or_default(),
                libc::TCA_OPTIONS => options = attribute.value().to_vec(),
                _ => {}
            }
        }
        match discipline.kind.as_str() {
            "tbf" => discipline.rate_bits = rate(&options, TCA_TBF_PARMS, 0, TCA_TBF_RATE64)?,
            "htb" => {
                // After the guaranteed rate comes the ceiling.
                discipline.rate_bits = rate(&options, TCA_HTB_PARMS, RATE_SPEC, TCA_HTB_CEIL64)?;
                discipline.default_class = default_class(&options)?;
            }
            _ => {}
        }
        Ok(discipline)
    }
}

/// The rate of the `tc_ratespec` at `offset` in the attribute `parameters`, or, with more than 32
/// bits, in `wide`.
fn rate(options: &[u8], parameters: u16, offset: usize, wide: u16) -> Result<Option<u64>, DecodeError> {
    let mut bytes = None;
    for attribute in NlasIterator::new(options) {
        let attribute = attribute?;
        let value = attribute.value();
        if attribute.kind() == parameters && bytes.is_none() {
            bytes = number(value, offset + RATE_SPEC - 4).map(u64::from);
        } else if attribute.kind() == wide {
            bytes = parse_u64(value).ok().or(bytes);
        }
    }
    Ok(bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes.saturating_mul(8)))
}

/// `struct tc_htb_glob`: version, rate2quantum, defcls …
fn default_class(options: &[u8]) -> Result<Option<u32>, DecodeError> {
    for attribute in NlasIterator::new(options) {
        let attribute = attribute?;
        if attribute.kind() == TCA_HTB_INIT {
            return Ok(number(attribute.value(), 8));
        }
    }
    Ok(None)
}

/// The 32-bit number at `offset` of a structure.
fn number(structure: &[u8], offset: usize) -> Option<u32> {
    parse_u32(structure.get(offset..offset + 4)?).ok()
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::DefaultNla;
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::{bytes, nested, string};

    fn parse(numbers: [u32; 3], kind: &str, options: &[(u16, Vec<u8>)]) -> Discipline {
        let [index, handle, parent] = numbers;
        let header = TcHeader {
            index: index.cast_signed(),
            handle: handle.into(),
            parent: parent.into(),
            ..TcHeader::default()
        };
        let mut payload = vec![0; header.buffer_len()];
        header.emit(&mut payload);
        let options: Vec<_> =
            options.iter().map(|(kind, value)| DefaultNla::new(*kind, value.clone())).collect();
        payload.extend(bytes(&[string(libc::TCA_KIND, kind), nested(libc::TCA_OPTIONS, &options)]));
        Discipline::parse(&payload).unwrap()
    }

    fn specification(bytes_per_second: u32) -> Vec<u8> {
        [&[3, 1, 0, 0, 0, 0, 0, 0][..], &bytes_per_second.to_ne_bytes()].concat()
    }

    #[test]
    fn a_token_buckets_rate_is_read_narrow_and_wide() {
        let parameters = [specification(12_500_000), specification(0), vec![0; 12]].concat();
        let narrow = parse([3, 0x10000, Discipline::ROOT], "tbf", &[(1, parameters.clone())]);
        let expected = Discipline {
            index: 3,
            handle: 0x10000,
            parent: Discipline::ROOT,
            kind: "tbf".to_owned(),
            rate_bits: Some(100_000_000),
            default_class: None,
        };
        assert_eq!(narrow, expected);
        let wide = [(TCA_TBF_RATE64, 12_500_000_000u64.to_ne_bytes().to_vec()), (1, parameters)];
        let wide = parse([3, 0x10000, Discipline::ROOT], "tbf", &wide);
        assert_eq!(wide.rate_bits, Some(100_000_000_000));
    }

    #[test]
    fn a_hierarchys_default_class_and_a_classs_ceiling_are_read() {
        let global = [3u32, 10, 0x30, 0, 0].into_iter().flat_map(u32::to_ne_bytes).collect();
        let root = parse([2, 0x10000, Discipline::ROOT], "htb", &[(2, global)]);
        assert_eq!((root.default_class, root.rate_bits), (Some(0x30), None));
        let parameters = [specification(1000), specification(2000), vec![0; 20]].concat();
        let class = parse([2, 0x10030, 0x10001], "htb", &[(1, parameters)]);
        assert_eq!((class.handle, class.rate_bits), (0x10030, Some(16_000)));
    }

    #[test]
    fn other_kinds_have_no_rate() {
        let plain = parse([2, 0, Discipline::ROOT], "noqueue", &[(1, vec![9; 40])]);
        assert_eq!((plain.kind.as_str(), plain.rate_bits), ("noqueue", None));
        assert!(Discipline::parse(&[0; 19]).is_err());
    }

    proptest! {
        #[test]
        fn a_rate_is_what_was_written(bytes_per_second in 1u32..) {
            let parameters = [specification(bytes_per_second), vec![0; 24]].concat();
            let read = parse([1, 1, Discipline::ROOT], "tbf", &[(1, parameters)]);
            prop_assert_eq!(read.rate_bits, Some(u64::from(bytes_per_second) * 8));
        }
    }
}
