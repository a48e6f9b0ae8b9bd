//! Hosts' identities in text replaced: the same one always by the same stand-in, another one by
//! another.
//!
//! A stand-in has the form of what it stands for (an address of the blocks that are kept for
//! documentation, RFC 5737 and RFC 3849; a locally administered link-layer address), so that what
//! was read from the text before can be read from it after.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value};

/// Names that only the machine itself can tell from other words.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    /// Names of hosts.
    pub hosts: Vec<String>,
    /// Names of users.
    pub users: Vec<String>,
}

/// Accounts of every machine: they name nobody.
const NOBODYS: [&str; 4] = ["root", "nobody", "localhost", "localhost.localdomain"];

/// Where the kernel shows itself: these paths name no host.
const KERNELS_OWN: [&str; 5] = ["/proc/", "/sys/", "/dev/kvm", "/dev/net/tun", "/dev/null"];

/// Fields that hold paths or commands.
const PATHS: [&str; 2] = ["kernel", "kernel_image"];

/// The field of an environment that holds machines of a user's.
const MACHINES: &str = "machines";

/// The machine on which the controller ran, in place of a name.
const THIS_MACHINE: &str = "this machine";

/// What is replaced by what, so far.
#[derive(Debug)]
pub(crate) struct Redaction {
    known: Identities,
    /// The kind and the original, and what stands for it.
    stand_ins: BTreeMap<(Kind, String), String>,
}

/// What is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Host,
    User,
    Mac,
    Ipv4,
    Ipv6,
    LinkLocal,
    Id,
    Path,
}

impl Redaction {
    pub(crate) fn new(known: Identities) -> Redaction {
        let names = |names: Vec<String>| -> Vec<String> {
            names.into_iter().filter(|name| name.len() > 1 && !NOBODYS.contains(&name.as_str())).collect()
        };
        let known = Identities { hosts: names(known.hosts), users: names(known.users) };
        Redaction { known, stand_ins: BTreeMap::new() }
    }

    /// Free text, or a study file.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let is_between = |letter: char| letter.is_whitespace() || "\"'`,;()[]{}<>=|".contains(letter);
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find(is_between).unwrap_or(rest.len());
            if word > 0 {
                // What ends a sentence, or announces what follows, is no part of a name.
                let bare = rest[..word].trim_end_matches(['.', ':', '?', '!']);
                out.push_str(&self.word(bare).unwrap_or_else(|| bare.to_owned()));
                out.push_str(&rest[bare.len()..word]);
            }
            let next = rest[word..].chars().next().map_or(word, |letter| word + letter.len_utf8());
            out.push_str(&rest[word..next]);
            rest = &rest[next..];
        }
        out
    }

    /// A JSON document: its texts, and its names where these are a host's own.
    pub(crate) fn document(&mut self, json: &str) -> serde_json::Result<String> {
        let mut value = serde_json::from_str(json)?;
        self.value(&mut value);
        Ok(value.to_string())
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => self.object(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>) {
        let had = fields.get("label").cloned();
        for (name, value) in fields.iter_mut() {
            match value {
                // A path need not be absolute.
                Value::String(path) if PATHS.contains(&name.as_str()) && path.contains('/') => {
                    *path = self.stand_in(Kind::Path, path);
                }
                Value::Object(sides) if name == MACHINES => self.machines(sides),
                _ => self.value(value),
            }
        }
        // A condition's short name is made of its label, and may spell a path without its slashes.
        if let (Some(index), true) = (fields.get("index").cloned(), had.as_ref() != fields.get("label"))
            && let Some(slug) = fields.get_mut("slug")
        {
            *slug = Value::String(format!("condition_{index}"));
        }
    }

    /// Machines as their user names them, by `ssh` or by another command.
    fn machines(&mut self, sides: &mut Map<String, Value>) {
        for (_, machine) in sides {
            match machine.get_mut("host") {
                Some(Value::String(host)) if host == THIS_MACHINE => {}
                Some(Value::String(host)) if host.contains('@') => *host = self.text(host),
                Some(Value::String(host)) => *host = self.stand_in(Kind::Host, host),
                _ => self.value(machine),
            }
        }
    }

    /// What stands for a word; none if it stays.
    fn word(&mut self, word: &str) -> Option<String> {
        // A path that was met as such, in whatever form.
        if let Some(known) = self.stand_ins.get(&(Kind::Path, word.to_owned())) {
            return Some(known.clone());
        }
        if self.known.hosts.iter().any(|host| host == word) {
            return Some(self.stand_in(Kind::Host, word));
        }
        if self.known.users.iter().any(|user| user == word) {
            return Some(self.stand_in(Kind::User, word));
        }
        if let Some((scheme, rest)) = word.split_once("://") {
            return Some(format!("{scheme}://{}", self.place(rest)));
        }
        if word.starts_with(['/', '~']) || word.starts_with("./") || word.starts_with("../") {
            let is_path = word.len() > 1 && !KERNELS_OWN.iter().any(|own| word.starts_with(own));
            return is_path.then(|| self.stand_in(Kind::Path, word));
        }
        if word.matches('/').count() > 1 && word.contains(char::is_alphabetic) {
            return Some(self.stand_in(Kind::Path, word));
        }
        if let Some((user, host)) =
            word.split_once('@').filter(|(user, host)| !user.is_empty() && !host.is_empty())
        {
            let user =
                if NOBODYS.contains(&user) { user.to_owned() } else { self.stand_in(Kind::User, user) };
            return Some(format!("{user}@{}", self.place(host)));
        }
        self.number(word)
    }

    /// A host with what may follow it: a port, a path.
    fn place(&mut self, place: &str) -> String {
        let end = place.find(['/', ':']).unwrap_or(place.len());
        let (host, rest) = place.split_at(end);
        let host = match self.word(host) {
            _ if host.is_empty() || NOBODYS.contains(&host) => host.to_owned(),
            Some(stand_in) => stand_in,
            None => self.stand_in(Kind::Host, host),
        };
        let at = rest.find('/').unwrap_or(rest.len());
        let path = if at < rest.len() { self.stand_in(Kind::Path, &rest[at..]) } else { String::new() };
        format!("{host}{}{path}", &rest[..at])
    }

    /// An address, or the number of a machine or of one of its boots.
    fn number(&mut self, word: &str) -> Option<String> {
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        for separator in [':', '-'] {
            let groups: Vec<&str> = word.split(separator).collect();
            let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
            if !groups.iter().all(|group| is_hex(group)) {
                continue;
            }
            match lengths.as_slice() {
                [2, 2, 2, 2, 2, 2] => {
                    let is_nobodys = ["00", "ff"].iter().any(|all| groups.iter().all(|group| group == all));
                    return (!is_nobodys)
                        .then(|| self.stand_in(Kind::Mac, &word.to_lowercase().replace('-', ":")));
                }
                [8, 4, 4, 4, 12] if separator == '-' => {
                    return Some(self.stand_in(Kind::Id, &groups.concat().to_lowercase()));
                }
                [32] => {
                    let id = self.stand_in(Kind::Id, &word.to_lowercase());
                    return Some(id.replace('-', ""));
                }
                _ => {}
            }
        }
        // With the length of a prefix, or a port.
        let (address, rest) = word.split_at(word.find(['/', '%']).unwrap_or(word.len()));
        if let Ok(address) = address.parse::<Ipv6Addr>() {
            return self.ipv6(address).map(|stand_in| stand_in + rest);
        }
        let (address, rest) = word.split_at(word.find(['/', ':']).unwrap_or(word.len()));
        let address: Ipv4Addr = address.parse().ok()?;
        is_public(address).then(|| self.stand_in(Kind::Ipv4, &address.to_string()) + rest)
    }

    fn ipv6(&mut self, address: Ipv6Addr) -> Option<String> {
        if let Some(inner) = address.to_ipv4_mapped() {
            return is_public(inner)
                .then(|| format!("::ffff:{}", self.stand_in(Kind::Ipv4, &inner.to_string())));
        }
        match address.segments() {
            [0x2001, 0xdb8, ..] => None,
            [0x2000..=0x3fff, ..] => Some(self.stand_in(Kind::Ipv6, &address.to_string())),
            // It may hold the link-layer address (RFC 4291, appendix A).
            [0xfe80, ..] => Some(self.stand_in(Kind::LinkLocal, &address.to_string())),
            _ => None,
        }
    }

    fn stand_in(&mut self, kind: Kind, original: &str) -> String {
        let key = (kind, original.to_owned());
        if let Some(known) = self.stand_ins.get(&key) {
            return known.clone();
        }
        let number = self.stand_ins.keys().filter(|(of, _)| *of == kind).count() + 1;
        let low = number as u16;
        let high = (number >> 16) as u16;
        let stand_in = match kind {
            Kind::Host => format!("host-{number}"),
            Kind::User => format!("user-{number}"),
            Kind::Path => format!("/redacted/{number}"),
            Kind::Mac => {
                let [.., a, b, c] = (number as u32).to_be_bytes();
                format!("02:00:00:{a:02x}:{b:02x}:{c:02x}")
            }
            // Beyond the three blocks there is 240.0.0.0/4, which nobody has either (RFC 1112).
            Kind::Ipv4 => match number {
                1..=254 => Ipv4Addr::new(192, 0, 2, low as u8).to_string(),
                255..=508 => Ipv4Addr::new(198, 51, 100, (number - 254) as u8).to_string(),
                509..=762 => Ipv4Addr::new(203, 0, 113, (number - 508) as u8).to_string(),
                _ => Ipv4Addr::from(0xf000_0000 | (number as u32 & 0x0fff_ffff)).to_string(),
            },
            Kind::Ipv6 => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, high, low).to_string(),
            Kind::LinkLocal => Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, high, low).to_string(),
            Kind::Id => format!("00000000-0000-4000-8000-{number:012x}"),
        };
        self.stand_ins.insert(key, stand_in.clone());
        stand_in
    }
}

/// Whether an address may be one host's in the whole world: not of a private network, of a machine
/// itself, of a block for tests, or no host's at all.
fn is_public(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_benchmark = first == 198 && (18..20).contains(&second);
    !(first == 0
        || first >= 224
        || is_shared
        || is_benchmark
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn redaction() -> Redaction {
        let known = |name: &str| vec![name.to_owned(), "root".to_owned()];
        Redaction::new(Identities { hosts: known("atlas"), users: known("alice") })
    }

    #[test]
    fn identities_are_replaced_and_other_words_stay() {
        for (text, shown) in [
            ("atlas is busy, said alice.", "host-1 is busy, said user-1."),
            ("atlases and malice stay, root too", "atlases and malice stay, root too"),
            ("ssh alice@box.example.com:22", "ssh user-1@host-1:22"),
            ("root@atlas", "root@host-1"),
            ("link 52:54:00:AB:cd:ef up", "link 02:00:00:00:00:01 up"),
            ("ff:ff:ff:ff:ff:ff and 00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff and 00:00:00:00:00:00"),
            ("8.8.8.8:53 by 10.0.0.1/24, 127.0.0.1", "192.0.2.1:53 by 10.0.0.1/24, 127.0.0.1"),
            ("(2a00:1450:4001::8a/64)", "(2001:db8::1/64)"),
            ("fe80::5054:ff:feab:cdef%eth0, fd00::1, ::1", "fe80::1%eth0, fd00::1, ::1"),
            ("::ffff:8.8.4.4", "::ffff:192.0.2.1"),
            (
                "root=UUID=8b1a9953-c461-4296-a827-abf8c47804d7",
                "root=UUID=00000000-0000-4000-8000-000000000001",
            ),
            ("id 0123456789abcdef0123456789abcdef", "id 00000000000040008000000000000001"),
            ("kernel = \"/srv/alice/bzImage\"", "kernel = \"/redacted/1\""),
            ("cannot read /srv/x: gone", "cannot read /redacted/1: gone"),
            ("~/x ./y ../z a/b/c", "/redacted/1 /redacted/2 /redacted/3 /redacted/4"),
            (
                "/proc/sys/net /sys/class/net / a/b TCP/IP 1/2/3",
                "/proc/sys/net /sys/class/net / a/b TCP/IP 1/2/3",
            ),
            ("https://lab.example.com/a/b?c", "https://host-1/redacted/1"),
            ("6.12.9-amd64 0.1.0 12:30:00 1.2.3", "6.12.9-amd64 0.1.0 12:30:00 1.2.3"),
        ] {
            assert_eq!(redaction().text(text), shown);
        }
    }

    #[test]
    fn the_same_has_the_same_stand_in_and_another_has_another() {
        let mut redaction = redaction();
        assert_eq!(redaction.text("9.9.9.9 8.8.8.8 9.9.9.9"), "192.0.2.1 192.0.2.2 192.0.2.1");
        assert_eq!(redaction.text("8.8.8.8"), "192.0.2.2");
        assert_eq!(
            redaction.text("52-54-00-ab-cd-ef 52:54:00:ab:cd:ef"),
            "02:00:00:00:00:01 02:00:00:00:00:01"
        );
        let many: std::collections::BTreeSet<String> =
            (0..1000_u32).map(|n| redaction.text(&Ipv4Addr::from(0x0808_0000 + n).to_string())).collect();
        assert_eq!(many.len(), 1000);
        assert!(many.iter().all(|address| !is_public(address.parse().unwrap())), "{many:?}");
    }

    #[test]
    fn a_document_keeps_its_form_and_a_path_its_stand_in() {
        let mut redaction = redaction();
        let before = json!({"conditions": [
            {"index": 3, "label": "kernel=/srv/alice/k", "slug": "tcp4_srv_alice_k", "guest": {"kernel": "builds/k", "vcpus": 2}},
            {"index": 4, "label": "ipv4", "slug": "tcp4"}]});
        let after: Value = serde_json::from_str(&redaction.document(&before.to_string()).unwrap()).unwrap();
        assert_eq!(
            after,
            json!({"conditions": [
                {"index": 3, "label": "kernel=/redacted/2", "slug": "condition_3", "guest": {"kernel": "/redacted/1", "vcpus": 2}},
                {"index": 4, "label": "ipv4", "slug": "tcp4"}]})
        );
        assert_eq!(redaction.text("kernel = \"builds/k\""), "kernel = \"/redacted/1\"");
    }

    proptest! {
        #[test]
        fn any_text_is_redacted_and_once_is_enough(text in "[a-f0-9:./@~ \"=\\-é\n]{0,80}") {
            let mut redaction = redaction();
            let once = redaction.text(&text);
            // What stands for something is no identity: only paths and hosts get a stand-in again.
            let again = Redaction::new(Identities::default()).text(&once);
            prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
            prop_assert_eq!(once.matches('"').count(), again.matches('"').count());
        }
    }
}
