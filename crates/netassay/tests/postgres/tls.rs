//! A server over a network: a password, and a certificate that is checked.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::common::{Bench, expect, is_root, skip};
use crate::server::{Server, expect_told};

/// Makes two authorities, and a certificate of the first for `localhost`.
fn certificates(bench: &Bench) {
    let openssl = |words: &str| {
        let mut command = Command::new("openssl");
        expect(&command.args(words.split(' ')).current_dir(bench.path("")).output().unwrap(), 0);
    };
    bench.write("names", "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for name in ["ca", "other"] {
        openssl(&format!("req -x509 {key} -keyout {name}.key -out {name}.pem -subj /CN={name} -days 30"));
    }
    openssl(&format!("req {key} -keyout server.key -out server.csr -subj /CN=localhost"));
    openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 30 -extfile names",
    );
    if is_root() {
        std::os::unix::fs::chown(bench.path("server.key"), Some(65534), None).unwrap();
    }
}

#[test]
#[ignore = "starts a PostgreSQL server: 10 s"]
fn a_connection_over_a_network_is_encrypted_and_its_certificate_checked() {
    let bench = Bench::new();
    certificates(&bench);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let path = |name: &str| bench.path(name).display().to_string();
    let options = [
        "listen_addresses=localhost".to_owned(),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", path("server.pem")),
        format!("ssl_key_file={}", path("server.key")),
        format!("hba_file={}", path("hba.conf")),
    ];
    bench.write("hba.conf", "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\nhostssl all all ::1/128 scram-sha-256\n");
    let options: Vec<&str> = options.iter().flat_map(|one| ["-c", one.as_str()]).collect();
    let Some(server) = Server::start(&bench, port, &options) else {
        return skip("a_connection_over_a_network", "no PostgreSQL is installed");
    };
    server.sql("ALTER ROLE owner PASSWORD 'secret'");
    let list = |password: &str, options: &str| {
        let address = format!("postgres://owner@localhost:{port}/bench{options}");
        let mut netassay = bench.netassay(&["db", "migrate", "--db", &address]);
        netassay.env("PGPASSWORD", password).env("SSL_CERT_FILE", path("other.pem")).output().unwrap()
    };
    let trusted = format!("?sslrootcert={}", path("ca.pem"));
    expect_told(&list("secret", &trusted), 0, &["has the tables"]);
    expect_told(&list("secret", ""), 3, &["cannot be reached", "UnknownIssuer"]);
    expect_told(&list("wrong", &trusted), 3, &["password authentication failed", "PGPASSWORD"]);
    expect_told(&list("secret", "?sslmode=disable"), 3, &["no pg_hba.conf entry"]);
    fs::write(bench.path("empty.pem"), "").unwrap();
    let empty = format!("?sslrootcert={}", path("empty.pem"));
    expect_told(&list("secret", &empty), 3, &["empty.pem holds no certificate"]);
}
