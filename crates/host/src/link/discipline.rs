//! Queueing disciplines as the kernel tells of them, read without trusting its bytes, and the rate
//! that one may have.

use crate::kernel::attributes::{Attribute, attributes, number, text};

/// One queueing discipline, or one class of one: a payload of `RTM_NEWQDISC` or `RTM_NEWTCLASS`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discipline {
    /// The interface's index.
    pub index: u32,
    /// Its own number; the major half is the discipline's, the minor half the class's.
    pub handle: u32,
    /// Where it hangs; [`Discipline::ROOT`] at the top.
    pub parent: u32,
    /// What it is: `tbf`, `htb`, `noqueue` …
    pub kind: String,
    /// The rate that it lets through at most, in bits/s: of `tbf` its rate, of a class of `htb` its
    /// ceiling.
    pub rate_bits: Option<u64>,
    /// (`htb`) the class, in the minor half, that takes what no filter sorts.
    pub default_class: Option<u32>,
}

/// `struct tcmsg`: family and padding (4 bytes), index, handle, parent, info.
const HEADER: usize = 20;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_CEIL64: u16 = 7;
/// `struct tc_ratespec`: cell_log, linklayer (8 bits each), overhead, cell_align, mpu (16 bits
/// each), rate in bytes/s.
const RATE_SPEC: usize = 12;

impl Discipline {
    /// The parent of what is at the top (`TC_H_ROOT`).
    pub const ROOT: u32 = 0xffff_ffff;

    /// Reads one payload. Options of other kinds, and numbers that are too short, are passed over.
    ///
    /// # Errors
    /// Fewer bytes than a header, or attributes that do not fit into each other.
    pub fn parse(payload: &[u8]) -> Result<Self, String> {
        let (header, rest) = payload
            .split_first_chunk::<HEADER>()
            .ok_or_else(|| format!("a queueing discipline in {} bytes", payload.len()))?;
        let [_, _, _, _, i0, i1, i2, i3, h0, h1, h2, h3, p0, p1, p2, p3, ..] = *header;
        let mut discipline = Self {
            index: u32::from_ne_bytes([i0, i1, i2, i3]),
            handle: u32::from_ne_bytes([h0, h1, h2, h3]),
            parent: u32::from_ne_bytes([p0, p1, p2, p3]),
            ..Self::default()
        };
        let mut options: &[u8] = &[];
        for attribute in attributes(rest) {
            match attribute? {
                Attribute { kind: TCA_KIND, value } => {
                    discipline.kind = text(value).unwrap_or_default().to_owned();
                }
                Attribute { kind: TCA_OPTIONS, value } => options = value,
                _ => {}
            }
        }
        match discipline.kind.as_str() {
            "tbf" => discipline.rate_bits = rate(options, TCA_TBF_PARMS, 0, TCA_TBF_RATE64)?,
            "htb" => {
                // Behind the rate that is guaranteed comes the ceiling that may be borrowed up to.
                discipline.rate_bits = rate(options, TCA_HTB_PARMS, RATE_SPEC, TCA_HTB_CEIL64)?;
                discipline.default_class = default_class(options)?;
            }
            _ => {}
        }
        Ok(discipline)
    }
}

/// The rate of the `tc_ratespec` at `offset` in the attribute `parameters`, or, where it has more
/// than 32 bits, in `wide`.
fn rate(options: &[u8], parameters: u16, offset: usize, wide: u16) -> Result<Option<u64>, String> {
    let mut bytes = None;
    for attribute in attributes(options) {
        let Attribute { kind, value } = attribute?;
        if kind == parameters && bytes.is_none() {
            let at = offset + RATE_SPEC - 4;
            bytes = value.get(at..at + 4).and_then(number).map(u64::from);
        } else if kind == wide
            && let Ok(value) = value.try_into()
        {
            bytes = Some(u64::from_ne_bytes(value));
        }
    }
    Ok(bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes.saturating_mul(8)))
}

/// `struct tc_htb_glob`: version, rate2quantum, defcls …
fn default_class(options: &[u8]) -> Result<Option<u32>, String> {
    for attribute in attributes(options) {
        let Attribute { kind, value } = attribute?;
        if kind == TCA_HTB_INIT {
            return Ok(value.get(8..12).and_then(number));
        }
    }
    Ok(None)
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use crate::kernel::attributes::{NESTED, push};

    pub(crate) fn payload(
        [index, handle, parent]: [u32; 3],
        kind: &str,
        options: &[(u16, Vec<u8>)],
    ) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for number in [index, handle, parent, 0] {
            bytes.extend(number.to_ne_bytes());
        }
        let mut inner = Vec::new();
        options.iter().for_each(|(kind, value)| push(&mut inner, *kind, value));
        push(&mut bytes, TCA_KIND, format!("{kind}\0").as_bytes());
        push(&mut bytes, TCA_OPTIONS | NESTED, &inner);
        bytes
    }

    pub(crate) fn specification(bytes_per_second: u32) -> Vec<u8> {
        [&[3, 1, 0, 0, 0, 0, 0, 0][..], &bytes_per_second.to_ne_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fixture::{payload, specification};
    use super::*;
    use crate::kernel::attributes::{NESTED, push};

    #[test]
    fn a_token_buckets_rate_is_read_narrow_and_wide() {
        let parameters = [specification(12_500_000), specification(0), vec![0; 12]].concat();
        let narrow =
            Discipline::parse(&payload([3, 0x10000, Discipline::ROOT], "tbf", &[(1, parameters.clone())]));
        let expected = Discipline {
            index: 3,
            handle: 0x10000,
            parent: Discipline::ROOT,
            kind: "tbf".to_owned(),
            rate_bits: Some(100_000_000),
            default_class: None,
        };
        assert_eq!(narrow.unwrap(), expected);
        let wide = [(TCA_TBF_RATE64, 12_500_000_000u64.to_ne_bytes().to_vec()), (1, parameters)];
        let wide = Discipline::parse(&payload([3, 0x10000, Discipline::ROOT], "tbf", &wide)).unwrap();
        assert_eq!(wide.rate_bits, Some(100_000_000_000));
    }

    #[test]
    fn a_hierarchys_default_class_and_a_classs_ceiling_are_read() {
        let global = [3u32, 10, 0x30, 0, 0].into_iter().flat_map(u32::to_ne_bytes).collect();
        let root =
            Discipline::parse(&payload([2, 0x10000, Discipline::ROOT], "htb", &[(2, global)])).unwrap();
        assert_eq!((root.default_class, root.rate_bits), (Some(0x30), None));
        let parameters = [specification(1000), specification(2000), vec![0; 20]].concat();
        let class = Discipline::parse(&payload([2, 0x10030, 0x10001], "htb", &[(1, parameters)])).unwrap();
        assert_eq!((class.handle, class.rate_bits), (0x10030, Some(16_000)));
    }

    #[test]
    fn other_kinds_have_no_rate() {
        let plain =
            Discipline::parse(&payload([2, 0, Discipline::ROOT], "noqueue", &[(1, vec![9; 40])])).unwrap();
        assert_eq!((plain.kind.as_str(), plain.rate_bits), ("noqueue", None));
        assert!(Discipline::parse(&[0; 19]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Discipline::parse(&bytes);
        }

        #[test]
        fn any_options_are_read_or_refused(
            kind in prop_oneof![Just("tbf"), Just("htb"), Just("fq")],
            options in prop::collection::vec(any::<u8>(), 0..120),
        ) {
            let mut bytes = payload([1, 1, 1], kind, &[]);
            push(&mut bytes, TCA_OPTIONS | NESTED, &options);
            let _ = Discipline::parse(&bytes);
        }

        #[test]
        fn a_rate_is_what_was_written(bytes_per_second in 1u32..) {
            let parameters = [specification(bytes_per_second), vec![0; 24]].concat();
            let read = Discipline::parse(&payload([1, 1, Discipline::ROOT], "tbf", &[(1, parameters)])).unwrap();
            prop_assert_eq!(read.rate_bits, Some(u64::from(bytes_per_second) * 8));
        }
    }
}
