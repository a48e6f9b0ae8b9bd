//! The fields of a packet whose hash selects its receive queue, as letters of `ethtool -N`.

/// Each letter with its bit (`RXH_*` of `linux/ethtool.h`), in the order of `ethtool`'s manual: the
/// link-layer destination, VLAN, protocol, source and destination address, the two halves of the
/// ports, the tunnel endpoint of GTP, IPv6's flow label, and whether the packet is discarded.
const LETTERS: [(char, u32); 10] = [
    ('m', 1 << 1),
    ('v', 1 << 2),
    ('t', 1 << 3),
    ('s', 1 << 4),
    ('d', 1 << 5),
    ('f', 1 << 6),
    ('n', 1 << 7),
    ('e', 1 << 8),
    ('l', 1 << 9),
    (DISCARD, 1 << 31),
];

// Not for a study: its traffic would be gone.
const DISCARD: char = 'r';

/// The letters that a study may ask for.
pub fn letters() -> impl Iterator<Item = char> {
    LETTERS.into_iter().map(|(letter, _)| letter).filter(|letter| *letter != DISCARD)
}

/// The mask of letters such as `sdfn`, in any order; `None` unless all are known and differ.
pub fn mask(text: &str) -> Option<u32> {
    let mut mask = 0;
    for letter in text.chars() {
        let (_, bit) = LETTERS.into_iter().find(|(known, _)| *known == letter)?;
        if mask & bit != 0 {
            return None;
        }
        mask |= bit;
    }
    (mask != 0).then_some(mask)
}

/// Any mask as text: its letters, `none`, or a number if a kernel has more fields.
pub(crate) fn text(mask: u32) -> String {
    let known: String = LETTERS.iter().filter(|(_, bit)| mask & bit != 0).map(|(letter, _)| letter).collect();
    match self::mask(&known) {
        _ if mask == 0 => NONE.to_owned(),
        Some(all) if all == mask => known,
        _ => format!("{mask:#x}"),
    }
}

pub(crate) fn of_text(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(number) => u32::from_str_radix(number, 16).ok(),
        None if text == NONE => Some(0),
        None => mask(text),
    }
}

const NONE: &str = "none";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_kernels_bits() {
        // `RXH_IP_SRC | RXH_IP_DST`, and with `RXH_L4_B_0_1 | RXH_L4_B_2_3`.
        assert_eq!((mask("sd"), mask("sdfn")), (Some(0x30), Some(0xf0)));
        assert_eq!(mask("nfds"), mask("sdfn"));
        assert_eq!([mask(""), mask("ss"), mask("sx")], [None; 3]);
        assert_eq!((text(0xf0), text(0), text(0x400)), ("sdfn".into(), "none".into(), "0x400".into()));
        assert!(letters().all(|letter| letter != 'r') && text(1 << 31) == "r");
    }
}
