//! The entries of a tar file as Debian packages hold them (deb(5)): ustar, with GNU's long names
//! and long sizes.

use std::io::{self, Read};

use tar::{Archive, Entry, EntryType};

const LONGEST_NAME: u64 = 4096;

/// An entry with its name as the file writes it: it may be absolute, and may hold `..`.
pub(crate) type NamedEntry<'a, R> = (Vec<u8>, Entry<'a, R>);

/// Read the contents of an entry before the next entry is asked for.
pub(crate) fn entries<R: Read>(
    archive: &mut Archive<R>,
) -> io::Result<impl Iterator<Item = io::Result<NamedEntry<'_, R>>>> {
    let mut long_name = None;
    // Raw: else names of any length are read into memory, and sizes in extensions believed.
    let raw = archive.entries()?.raw(true);
    Ok(raw.filter_map(move |entry| entry.and_then(|entry| read(entry, &mut long_name)).transpose()))
}

fn read<'a, R: Read>(
    mut entry: Entry<'a, R>,
    long_name: &mut Option<Vec<u8>>,
) -> io::Result<Option<NamedEntry<'a, R>>> {
    match entry.header().entry_type() {
        EntryType::GNULongName if entry.size() > LONGEST_NAME => {
            return Err(io::Error::other("a name is longer than a path can be"));
        }
        EntryType::GNULongName => {
            let name = long_name.insert(Vec::new());
            entry.read_to_end(name)?;
            name.truncate(name.iter().position(|&byte| byte == 0).unwrap_or(name.len()));
            return Ok(None);
        }
        // The target of the next entry's link, which nobody asks for.
        EntryType::GNULongLink => return Ok(None),
        EntryType::Regular | EntryType::Directory | EntryType::Link | EntryType::Symlink => {}
        EntryType::Char | EntryType::Block | EntryType::Fifo => {}
        _ => return Err(io::Error::other("an entry is of an unknown type")),
    }
    let name = long_name.take().unwrap_or_else(|| entry.header().path_bytes().into_owned());
    Ok(Some((name, entry)))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use tar::Header;

    use super::*;

    /// The size of a header, and what contents are filled up to.
    const BLOCK: usize = 512;

    /// An entry as tar(1) writes it in the format `ustar`.
    pub(crate) fn entry(name: &str, kind: u8, mode: &str, link: &str, contents: &[u8]) -> Vec<u8> {
        let size = format!("{:012o}", contents.len()).into_bytes().try_into().unwrap();
        sized(name, kind, mode, link, contents, size)
    }

    fn sized(name: &str, kind: u8, mode: &str, link: &str, contents: &[u8], size: [u8; 12]) -> Vec<u8> {
        let mut header = Header::new_ustar();
        let fields = header.as_old_mut();
        fields.name[..name.len()].copy_from_slice(name.as_bytes());
        fields.mode[..mode.len()].copy_from_slice(mode.as_bytes());
        fields.size = size;
        fields.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(EntryType::new(kind));
        header.set_cksum();
        let mut bytes = [header.as_bytes(), contents].concat();
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    pub(crate) const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];

    #[test]
    fn entries_come_with_their_names_and_contents() {
        let long = "d/".repeat(100) + "file";
        let bytes = [
            entry("./boot/", b'5', "0000755", "", b""),
            entry("./boot/vmlinuz-1", b'0', "0000644", "", b"image"),
            entry("link", b'2', "0000777", "/etc", b""),
            entry("././@LongLink", b'L', "0000644", "", format!("{long}\0").as_bytes()),
            entry("cut", b'0', "0000755", "", &[7; 600]),
            END.to_vec(),
        ]
        .concat();
        let mut archive = Archive::new(bytes.as_slice());
        let mut entries = entries(&mut archive).unwrap();
        let mut next = || {
            let (name, mut entry) = entries.next()?.unwrap();
            let mut contents = Vec::new();
            entry.read_to_end(&mut contents).unwrap();
            let (kind, mode) = (entry.header().entry_type(), entry.header().mode().unwrap());
            Some((String::from_utf8(name).unwrap(), kind, mode, contents))
        };
        assert_eq!(next(), Some(("./boot/".to_owned(), EntryType::Directory, 0o755, vec![])));
        assert_eq!(
            next(),
            Some(("./boot/vmlinuz-1".to_owned(), EntryType::Regular, 0o644, b"image".to_vec()))
        );
        assert_eq!(next(), Some(("link".to_owned(), EntryType::Symlink, 0o777, vec![])));
        assert_eq!(next(), Some((long, EntryType::Regular, 0o755, vec![7; 600])));
        assert_eq!(next(), None);
    }

    #[test]
    fn what_would_take_memory_or_is_of_another_kind_is_refused() {
        for (kind, size, why) in [
            (b'L', format!("{:012o}", LONGEST_NAME + 1), "longer than a path"),
            (b'0', "\u{7f}".repeat(12), "not a number"),
            (b'x', "0".repeat(12), "unknown type"),
            (b'S', "0".repeat(12), "unknown type"),
        ] {
            let bytes = sized("a", kind, "0000644", "", &[b'a'; 5000], size.into_bytes().try_into().unwrap());
            let mut archive = Archive::new(bytes.as_slice());
            let error = entries(&mut archive).unwrap().next().unwrap().err().unwrap().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    fn size() -> impl Strategy<Value = [u8; 12]> {
        prop_oneof![
            "[0-7]{12}".prop_map(|text| text.into_bytes().try_into().unwrap()),
            (0_u64..3000).prop_map(|size| format!("{size:012o}").into_bytes().try_into().unwrap()),
            any::<[u8; 8]>().prop_map(|low| [[0x80, 0, 0, 0].as_slice(), &low].concat().try_into().unwrap()),
            any::<[u8; 12]>(),
        ]
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000), size in size(), kind in prop::sample::select(&b"0157LKxg\0"[..])) {
            let good = sized("a", kind, "0000644", "", &bytes, size);
            for bytes in [bytes, good] {
                let mut archive = Archive::new(bytes.as_slice());
                for (_, mut entry) in entries(&mut archive).unwrap().map_while(Result::ok) {
                    let _ = io::copy(&mut entry.by_ref().take(1 << 20), &mut io::sink());
                }
            }
        }
    }
}
