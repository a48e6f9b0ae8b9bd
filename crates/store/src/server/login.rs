//! The way to a server: its address, its certificate, and the words of its errors.

use std::error::Error;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, io};

use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::without_password;
use crate::error::{Result, StoreError};

// A server that is gone is noticed within a minute, also in the middle of a transaction.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(20);
const UNANSWERED: Duration = Duration::from_secs(60);

// The directory of the socket in Debian and Fedora.
const SOCKETS: &str = "/var/run/postgresql";

/// The files of trusted certificates of Debian, of Fedora, and of SUSE.
const TRUSTED: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"];

pub(super) struct Login {
    /// The address without its password.
    pub(super) shown: PathBuf,
    config: Config,
    /// The file of certificates to trust, if the connection is encrypted.
    trusted: Option<PathBuf>,
}

impl Login {
    /// Reads an address. Over a network the connection is encrypted and the server's certificate
    /// checked, unless it says `sslmode=disable`; a password that it lacks is that of PGPASSWORD.
    pub(super) fn read(address: &Path) -> Result<Self> {
        let text: &str = &address.to_string_lossy();
        let shown = PathBuf::from(without_password(text).as_ref());
        let wrong = |problem: String| StoreError::Server {
            path: shown.clone(),
            problem,
            remedy: "write postgres://USER@HOST:PORT/DATABASE (docs/fleets.md)",
        };
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut mode, mut trusted, mut others) = ("verify-full", None, Vec::new());
        for one in query.split('&').filter(|one| !one.is_empty()) {
            match one.split_once('=') {
                Some(("sslmode", word)) => mode = word,
                Some(("sslrootcert", file)) => trusted = Some(PathBuf::from(file)),
                _ => others.push(one),
            }
        }
        let is_encrypted = match mode {
            "disable" => false,
            "require" | "verify-ca" | "verify-full" => true,
            other => {
                let problem = format!("sslmode={other} is none of disable, require and verify-full");
                return Err(wrong(problem));
            }
        };
        let others = others.join("&");
        let mark = if others.is_empty() { "" } else { "?" };
        let (scheme, login) = place.split_once("://").unwrap_or(("postgres", place));
        let scheme = scheme.to_ascii_lowercase();
        let parsed = format!("{scheme}://{login}{mark}{others}").parse::<Config>();
        // The error may quote a part of a password.
        let is_quoted = shown.as_os_str() == text;
        let unquoted = "the address is invalid, or its password is not percent-encoded";
        let invalid = |error: postgres::Error| match is_quoted {
            true => with_causes(&error),
            false => unquoted.to_owned(),
        };
        let mut config = parsed.map_err(|error| wrong(invalid(error)))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host_path(SOCKETS);
        }
        let has_password = config.get_password().is_some();
        if let Some(password) = env::var_os("PGPASSWORD").filter(|_| !has_password) {
            config.password(password.as_bytes());
        }
        // Nobody else is in between on a socket of this machine.
        let is_local = config.get_hostaddrs().is_empty()
            && config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        let is_encrypted = is_encrypted && !is_local;
        config.application_name("netassay").connect_timeout(CONNECT_TIMEOUT);
        config.keepalives_idle(KEEPALIVE).tcp_user_timeout(UNANSWERED);
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        let of_system = || {
            let named = env::var_os("SSL_CERT_FILE").map(PathBuf::from);
            let known = TRUSTED.iter().map(PathBuf::from).find(|file| file.exists());
            named.or(known).unwrap_or_else(|| PathBuf::from(TRUSTED[0]))
        };
        let trusted = is_encrypted.then(|| trusted.unwrap_or_else(of_system));
        Ok(Self { shown, config, trusted })
    }

    /// Opens a session, whose tables are those of netassay.
    pub(super) fn connect(&self) -> Result<Client> {
        let connected = match &self.trusted {
            Some(file) => self.config.connect(MakeRustlsConnect::new(self.trust(file)?)),
            None => self.config.connect(NoTls),
        };
        let refused = |error: postgres::Error| match error.code() {
            Some(_) => self.error(&error),
            None => StoreError::Unreachable { path: self.shown.clone(), detail: with_causes(&error) },
        };
        let mut client = connected.map_err(refused)?;
        // Not that of the role: other programs have tables of such names, too.
        client.batch_execute("SET search_path TO netassay").map_err(|error| self.error(&error))?;
        Ok(client)
    }

    fn trust(&self, file: &Path) -> Result<ClientConfig> {
        let mut roots = RootCertStore::empty();
        // A damaged one ends the list, which has no end where the file cannot be read.
        let certificates = CertificateDer::pem_file_iter(file).map(|all| all.map_while(Result::ok));
        let problem = match certificates.map(|all| roots.add_parsable_certificates(all)) {
            Ok((1.., _)) => {
                return Ok(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth());
            }
            Ok(_) => format!("{} holds no certificate", file.display()),
            Err(error) => format!("cannot read {}: {error}", file.display()),
        };
        let remedy = "name the certificate to trust in the address (sslrootcert=FILE)";
        Err(StoreError::Server { path: self.shown.clone(), problem, remedy })
    }

    /// The error of a statement.
    pub(super) fn error(&self, error: &postgres::Error) -> StoreError {
        let (path, detail) = (self.shown.clone(), with_causes(error));
        let is_cut = error.source().is_some_and(|cause| cause.is::<io::Error>());
        // The server ends sessions (class 57P), or lost this one (class 08).
        let is_ended = |code: &SqlState| code.code().starts_with("57P") || code.code().starts_with("08");
        if error.is_closed() || is_cut || error.code().is_some_and(is_ended) {
            return StoreError::ConnectionLost { path, detail };
        }
        let (problem, remedy) = match error.code() {
            Some(&SqlState::DISK_FULL) => (
                format!("the disk of the server is full ({detail})"),
                "free some space there and try again: each study is there wholly or not at all",
            ),
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                (detail, "let its owner grant the role what it lacks (docs/fleets.md)")
            }
            // Tables are made only where no version is found.
            Some(&SqlState::DUPLICATE_TABLE | &SqlState::DUPLICATE_FUNCTION) => (
                format!("its schema netassay holds tables, but no version of them ({detail})"),
                "restore the whole database from a copy; if it holds no study, let its owner run `DROP SCHEMA netassay CASCADE`, \
                 then `netassay db migrate`",
            ),
            Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => (detail, "name the server that accepts changes"),
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                (detail, "check the user, and the password in PGPASSWORD")
            }
            _ => (detail, "the server's log says more"),
        };
        StoreError::Server { path, problem, remedy }
    }
}

/// An error with its causes, on one line.
fn with_causes(error: &postgres::Error) -> String {
    if let Some(told) = error.as_db_error() {
        return words::shortened_reason(told.message());
    }
    let mut causes = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes.join(": ")
}
