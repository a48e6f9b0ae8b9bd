use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::PathBuf;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::*;

#[test]
fn a_file_is_read_up_to_its_bound() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "12345").unwrap();
    assert_eq!(read(&path, 5).unwrap(), b"12345");
    let error = read(&path, 4).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::FileTooLarge, "it has more than 4 bytes")
    );
    // A file that grows without end, or has a terabyte of zeros.
    File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(read(&path, 1000).unwrap_err().kind(), ErrorKind::FileTooLarge);
    assert_eq!(read(directory.path(), 5).unwrap_err().kind(), ErrorKind::IsADirectory);
    assert_eq!(read(&directory.path().join("none"), 5).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_device_is_refused_before_it_is_read() {
    for device in ["/dev/zero", "/dev/urandom", "/dev/null"] {
        let error = open(Path::new(device)).unwrap_err();
        assert_eq!(error.to_string(), "it is neither a regular file nor a pipe");
    }
}

#[test]
fn a_pipe_is_read_if_somebody_writes_and_not_waited_for_without_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    let error = open_pipe(&path, Duration::from_millis(200)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);

    thread::scope(|scope| {
        scope.spawn(|| {
            // The thread of the attempt above may still wait, and get this opening too.
            let mut pipe = OpenOptions::new().write(true).open(&path).unwrap();
            thread::sleep(Duration::from_millis(300));
            pipe.write_all(b"slow").unwrap();
        });
        assert_eq!(read(&path, 100).unwrap(), b"slow");
    });
}

#[test]
fn a_pipe_without_end_is_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = OpenOptions::new().write(true).open(&path).unwrap();
            while pipe.write_all(&[b'x'; 1000]).is_ok() {}
        });
        assert_eq!(read(&path, 100_000).unwrap_err().kind(), ErrorKind::FileTooLarge);
    });
}

/// A directory that everybody may write, as `/tmp` is, with a file beside it that nobody else
/// may reach.
fn shared() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let (shared, precious) = (directory.path().join("shared"), directory.path().join("precious"));
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    fs::write(&precious, "precious").unwrap();
    (directory, shared.join("quick-1.html"), precious)
}

type Plant = fn(&Path, &Path);

// Ways to obstruct the place, each with the reason of the refusal.
const PLANTS: [(&str, Plant); 5] = [
    ("it is a symbolic link", |path, precious| symlink(precious, path).unwrap()),
    ("it is a symbolic link", |path, _| symlink("nowhere", path).unwrap()),
    ("it is no regular file", |path, _| mkfifo(path, Mode::S_IRWXU).unwrap()),
    ("it is no regular file", |path, _| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
    ("Is a directory", |path, _| fs::create_dir(path).unwrap()),
];

#[test]
fn a_name_that_others_can_guess_leads_to_no_other_file_and_blocks_nobody() {
    let (directory, path, precious) = shared();
    let left = || fs::read_dir(path.parent().unwrap()).unwrap().count();
    for (why, plant) in PLANTS {
        plant(&path, &precious);
        for may_replace in [MayReplace::OwnFile, MayReplace::Nothing] {
            let error = write(&path, b"new", may_replace).unwrap_err().to_string();
            assert!(may_replace == MayReplace::Nothing || error.contains(why), "{error}");
        }
        assert_eq!((fs::read_to_string(&precious).unwrap().as_str(), left()), ("precious", 1));
        assert!(!directory.path().join("shared/nowhere").exists());
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).unwrap();
    }
    // Another name of a file of ours: the name is replaced, and the file stays.
    fs::hard_link(&precious, &path).unwrap();
    write(&path, b"new", MayReplace::OwnFile).unwrap();
    write(&path, b"newer", MayReplace::OwnFile).unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), fs::read(&precious).unwrap()),
        (b"newer".to_vec(), b"precious".to_vec())
    );
    assert_eq!(left(), 1);
}

#[test]
fn what_another_user_put_into_a_shared_directory_is_not_used() {
    if !geteuid().is_root() {
        let _ = writeln!(io::stderr(), "SKIPPED: another user's files: only root gives files away");
        return;
    }
    let (_directory, path, precious) = shared();
    let regular: Plant = |path, _| fs::write(path, "theirs").unwrap();
    for (_, plant) in PLANTS.into_iter().chain([("", regular)]) {
        plant(&path, &precious);
        lchown(&path, Some(65534), None).unwrap();
        for may_replace in [MayReplace::OwnFile, MayReplace::NamedByUser] {
            let error = write(&path, b"new", may_replace).unwrap_err();
            let is_directory = error.kind() == ErrorKind::IsADirectory;
            assert!(is_directory || error.kind() == ErrorKind::PermissionDenied, "{error}");
        }
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).unwrap();
    }
}

#[test]
fn a_file_that_the_user_named_is_what_the_user_made_of_it() {
    let (directory, path, precious) = shared();
    symlink(&precious, &path).unwrap();
    write(&path, b"new", MayReplace::NamedByUser).unwrap();
    assert_eq!(fs::read(&precious).unwrap(), b"new");
    assert!(path.is_symlink());
    write(Path::new("/dev/null"), b"new", MayReplace::NamedByUser).unwrap();
    let pipe = directory.path().join("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| write(&pipe, b"through", MayReplace::NamedByUser).unwrap());
        assert_eq!(read(&pipe, 100).unwrap(), b"through");
    });
    let database = directory.path().join("database");
    fs::write(&database, b"SQLite format 3\0...").unwrap();
    for may_replace in [MayReplace::OwnFile, MayReplace::NamedByUser] {
        assert_eq!(write(&database, b"new", may_replace).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(write(directory.path(), b"new", may_replace).unwrap_err().kind(), ErrorKind::IsADirectory);
    }
}
