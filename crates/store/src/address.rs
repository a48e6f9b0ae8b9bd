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
    let user = |login: &str| login.split([':', '@', '/', '?']).next().unwrap_or_default().to_owned();
    let (place, query) = address.split_once('?').unwrap_or((address, ""));
    // The password may hold a `?`, or an option an `@`: nobody knows what is a part of which.
    if query.contains('@') {
        return format!("{before}{}@…", user(address)).into();
    }
    // A password that is not encoded may hold any character: all up to the last `@` is the login.
    let place = match place.rsplit_once('@') {
        Some((login, place)) => format!("{}@{place}", user(login)),
        None => place.to_owned(),
    };
    let is_shown = |one: &&str| {
        let key = one.split('=').next().unwrap_or_default();
        // An encoded key may be that of the password.
        !key.contains('%') && !key.eq_ignore_ascii_case("password")
    };
    // A password may hold an `&`, too: no option behind it is shown.
    let query: Vec<&str> = query.split('&').take_while(is_shown).filter(|one| !one.is_empty()).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{before}{place}{mark}{}", query.join("&")).into()
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
            ("postgres:///bench?host=/run&password=secret&port=1", "postgres:///bench?host=/run"),
            ("postgres://db/bench?password=secret", "postgres://db/bench"),
            ("postgres://db/bench?password=se&cr=et", "postgres://db/bench"),
            ("postgres://lab@db:1/bench?password=se@cret", "postgres://lab@…"),
            ("postgres:///bench?host=/run&password=se@cret", "postgres://@…"),
            ("postgres://lab:se?cret@db/bench", "postgres://lab@…"),
            ("postgres://db/bench?pass%77ord=secret&port=1", "postgres://db/bench"),
            ("postgres://db/bench?pass%77ord=se@cret", "postgres://db@…"),
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
