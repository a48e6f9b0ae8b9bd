//! `netassay kernel`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::output_schema;
use crate::kernel::{PACKAGE, data_home};

fn netassay(arguments: &[&str], home: &Path, path: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netassay"));
    command.args(arguments).env("XDG_DATA_HOME", home).env("NO_COLOR", "1");
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_was_fetched_is_listed_by_its_names_and_not_fetched_again() {
    let home = data_home();
    let output = netassay(&["kernel", "list", "--format", "json"], &home, None);
    assert!(output.status.success(), "{}", stderr(&output));
    output_schema::expect(&["kernel", "list"], &String::from_utf8_lossy(&output.stdout));
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = &list["kernels"];
    // Another test may have fetched an older one beside it.
    let row = rows.as_array().unwrap().iter().find(|row| row["aliases"][0] == PACKAGE).unwrap();
    let release = row["release"].as_str().unwrap();
    assert!(row["package"].as_str().unwrap().ends_with(release), "{rows}");
    let image = row["image"].as_str().unwrap();
    let before = fs::metadata(image).unwrap();
    let again = netassay(&["kernel", "fetch", PACKAGE], &home, None);
    assert!(again.status.success(), "{}", stderr(&again));
    assert!(stderr(&again).contains(release), "{}", stderr(&again));
    let after = fs::metadata(image).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::ino(&before), std::os::unix::fs::MetadataExt::ino(&after));
    let text = netassay(&["kernel", "list"], &home, None);
    assert!(String::from_utf8_lossy(&text.stdout).contains(PACKAGE));
}

#[test]
fn what_cannot_be_fetched_is_reported_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let empty = tempfile::tempdir().unwrap();
    let kept = home.path().join("netassay/kernels");
    for (package, path, words) in [
        ("linux-image-no-such-thing", None, "cannot fetch linux-image-no-such-thing: apt knows no"),
        ("../evil", None, "cannot fetch ../evil: this is not a package name"),
        ("/nonexistent/linux.deb", None, "cannot fetch /nonexistent/linux.deb: the file does not exist"),
        ("linux-image-cloud-amd64", Some(empty.path()), "no apt-cache in the PATH"),
    ] {
        let output = netassay(&["kernel", "fetch", package], home.path(), path);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert_eq!(fs::read_dir(&kept).unwrap().count(), 0, "{package}");
    }
    let list = netassay(&["kernel", "list"], home.path(), None);
    assert!(list.status.success() && stderr(&list).contains("netassay kernel fetch"), "{}", stderr(&list));
}

/// A stand-in for one of Debian's tools.
fn tool(directory: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_machine_without_a_network_is_reported_in_the_tools_words() {
    let (home, tools) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    tool(tools.path(), "apt-cache", "echo 'Package: linux-image-1-amd64'; echo 'Version: 1'");
    tool(
        tools.path(),
        "apt-get",
        "echo 'E: Failed to fetch http://deb/x  Temporary failure resolving deb' >&2; exit 100",
    );
    let output = netassay(&["kernel", "fetch", "linux-image-1-amd64"], home.path(), Some(tools.path()));
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("apt-get: Failed to fetch http://deb/x"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(home.path().join("netassay/kernels")).unwrap().count(), 0);
}

/// Stand-ins for tools whose sources know `bookworm` and `bookworm-backports`, and an image that
/// only the latter has.
fn sources(directory: &Path, package: &Path) {
    let show = |name: &str, depends: &str| {
        format!("echo 'Package: {name}'; echo 'Version: 6.12-1'; echo '{depends}'")
    };
    let meta = show("linux-image-t-meta", "Depends: linux-image-t (= 1.2)");
    let cache = format!(
        "case \"$3\" in linux-image-t-meta/bookworm-backports|linux-image-t-meta) {meta} ;; \
         linux-image-t/bookworm-backports) {} ;; */*) ;; *) exit 100 ;; esac",
        show("linux-image-t", "")
    );
    tool(directory, "apt-cache", &cache);
    let get = format!(
        "case \"$*\" in '-q download linux-image-t/bookworm-backports') cp {} . ;; *) exit 100 ;; esac",
        package.display()
    );
    tool(directory, "apt-get", &get);
}

#[test]
fn a_release_is_asked_for_behind_a_slash() {
    let (home, build) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = package(build.path());
    let tools = tempfile::tempdir().unwrap();
    sources(tools.path(), &file);
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let fetch = |asked: &str| netassay(&["kernel", "fetch", asked], home.path(), Some(path.as_ref()));
    let output = fetch("linux-image-t-meta/bookworm-backports");
    assert!(output.status.success(), "{}", stderr(&output));
    let list = netassay(&["kernel", "list"], home.path(), None);
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(
        list.contains("linux-image-t") && list.contains("linux-image-t-meta/bookworm-backports"),
        "{list}"
    );
    // The name that was fetched is a name in a study.
    let study = build.path().join("study.toml");
    let text = "name = \"s\"\nquestion = \"?\"\nscenario = \"vm\"\n[guest]\nkernel = \"linux-image-t-meta/bookworm-backports\"\n\
                [[workload]]\nkind = \"tcp_stream\"\n";
    fs::write(&study, text).unwrap();
    let tried = netassay(&["run", "--dry-run", study.to_str().unwrap()], home.path(), None);
    assert!(!stderr(&tried).contains("no kernel \"linux-image-t-meta"), "{}", stderr(&tried));

    for (asked, words) in [
        ("linux-image-t-meta/bookworm", "apt knows no such package"),
        ("linux-image-none/bookworm", "apt-cache search"),
    ] {
        let output = fetch(asked);
        assert_eq!(output.status.code(), Some(3), "{asked}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn a_package_file_is_unpacked_too() {
    let (home, build) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = package(build.path());
    // What a process left that was killed: no process has this number.
    let kept = home.path().join("netassay/kernels");
    fs::create_dir_all(kept.join(".fetching-99999999/tree")).unwrap();
    for _ in 0..2 {
        let output = netassay(&["kernel", "fetch", file.to_str().unwrap()], home.path(), None);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("kernel = \"linux-image-t\""), "{}", stderr(&output));
    }
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 1, "nothing but the kernel");
    assert!(kept.join("linux-image-t/lib/modules/6.1.0-t").is_dir());
}

/// A package that holds an image and a directory of modules.
fn package(build: &Path) -> std::path::PathBuf {
    let tree = build.join("tree");
    for directory in ["DEBIAN", "boot", "lib/modules/6.1.0-t"] {
        fs::create_dir_all(tree.join(directory)).unwrap();
    }
    let control =
        "Package: linux-image-t\nVersion: 1.2\nArchitecture: amd64\nMaintainer: t <t@t>\nDescription: t\n";
    fs::write(tree.join("DEBIAN/control"), control).unwrap();
    let mut image = vec![0; 0x400];
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x20f] = 1;
    image[0x300..0x309].copy_from_slice(b"6.1.0-t (");
    fs::write(tree.join("boot/vmlinuz-6.1.0-t"), image).unwrap();
    let built =
        Command::new("dpkg-deb").args(["--build", "tree", "t.deb"]).current_dir(build).output().unwrap();
    assert!(built.status.success(), "{}", stderr(&built));
    build.join("t.deb")
}
