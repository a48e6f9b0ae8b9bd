//! Addresses of PostgreSQL databases, which `--db` takes as well as the name of a file.

use std::borrow::Cow;
use std::path::Path;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Whether this names a database on a PostgreSQL server, and no file.
pub fn is_server(database: &Path) -> bool {
    let text = database.to_string_lossy().to_ascii_lowercase();
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// The text with the password of the address in it left out.
pub fn without_password(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    let begin = SCHEMES.iter().find_map(|scheme| Some(lower.find(scheme)? + scheme.len()));
    let Some(begin) = begin else { return text.into() };
    let (before, address) = text.split_at(begin);
    // Behind an `@` of the option `password` nobody knows what is a part of it.
    let is_unclear = |query: &str| query.contains('@') && query.to_ascii_lowercase().contains("password=");
    if address.split_once('?').is_some_and(|(_, query)| is_unclear(query)) {
        let user = address.split([':', '@', '/', '?']).next().unwrap_or_default();
        return format!("{before}{user}@…").into();
    }
    // A password that is not encoded may hold any character: all up to the last `@` is the login.
    let (user, rest) = match address.rsplit_once('@') {
        Some((login, rest)) => (format!("{}@", login.split(':').next().unwrap_or_default()), rest),
        None => (String::new(), address),
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_shown = |one: &&str| {
        let key = one.split('=').next().unwrap_or_default();
        // An encoded key may be that of the password.
        !one.is_empty() && !key.contains('%') && !key.eq_ignore_ascii_case("password")
    };
    let query: Vec<&str> = query.split('&').filter(is_shown).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{before}{user}{place}{mark}{}", query.join("&")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_no_files_and_show_no_password() {
        for (address, shown) in [
            ("postgres://db/bench", "postgres://db/bench"),
            ("postgres://lab:secret@db:5433/bench", "postgres://lab@db:5433/bench"),
            (
                "postgresql://lab:se@c/ret@db/bench?sslmode=require",
                "postgresql://lab@db/bench?sslmode=require",
            ),
            ("postgres:///bench?host=/run&password=secret&port=1", "postgres:///bench?host=/run&port=1"),
            ("postgres://db/bench?password=secret", "postgres://db/bench"),
            ("postgres://lab@db:1/bench?password=se@cret", "postgres://lab@…"),
            ("postgres:///bench?host=/run&password=se@cret", "postgres://@…"),
            ("postgres://db/bench?pass%77ord=secret&port=1", "postgres://db/bench?port=1"),
            ("POSTGRES://lab:secret@db/bench?PASSWORD=secret", "POSTGRES://lab@db/bench"),
        ] {
            assert!(is_server(Path::new(address)), "{address}");
            assert_eq!(without_password(address), shown);
            assert_eq!(without_password(&format!("--db={address}")), format!("--db={shown}"));
        }
        for file in ["netassay.db", "postgres:/x", "./postgres://x", "a:b@c"] {
            assert!(!is_server(Path::new(file)), "{file}");
            assert_eq!(without_password(file).starts_with("./"), file.starts_with("./"));
        }
    }
}
