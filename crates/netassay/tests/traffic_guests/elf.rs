//! Programs of a few bytes, to be a guest's first process.

/// Ends at once, with exit code 7: the kernel panics when its first process ends.
pub(crate) fn that_ends() -> Vec<u8> {
    // mov edi, 7; mov eax, 60 (exit); syscall
    program(&[0xbf, 7, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05], b"")
}

/// Says something, and then sleeps for ever.
pub(crate) fn that_hangs(words: &str) -> Vec<u8> {
    let length = u8::try_from(words.len()).unwrap();
    // mov edi, 1; lea rsi, [rip + 15] (behind the code); mov edx, length; mov eax, 1 (write);
    // syscall
    let mut code = vec![
        0xbf, 1, 0, 0, 0, 0x48, 0x8d, 0x35, 21, 0, 0, 0, 0xba, length, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0x0f, 0x05,
    ];
    // mov eax, 34 (pause); syscall; and again
    code.extend([0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7]);
    program(&code, words.as_bytes())
}

/// A 64-bit program with one segment: its code, and data behind it.
fn program(code: &[u8], data: &[u8]) -> Vec<u8> {
    const BASE: u64 = 0x40_0000;
    const HEADERS: u64 = 64 + 56;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let half = |file: &mut Vec<u8>, value: u16| file.extend(value.to_le_bytes());
    let word = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
    let long = |file: &mut Vec<u8>, value: u64| file.extend(value.to_le_bytes());
    // An executable for x86-64; entry, program headers, no section headers, no flags; sizes.
    half(&mut file, 2);
    half(&mut file, 62);
    word(&mut file, 1);
    long(&mut file, BASE + HEADERS);
    long(&mut file, 64);
    long(&mut file, 0);
    word(&mut file, 0);
    for value in [64, 56, 1, 0, 0, 0] {
        half(&mut file, value);
    }
    // PT_LOAD, readable and executable: the whole file.
    word(&mut file, 1);
    word(&mut file, 5);
    let size = HEADERS + code.len() as u64 + data.len() as u64;
    for value in [0, BASE, BASE, size, size, 0x1000] {
        long(&mut file, value);
    }
    file.extend(code);
    file.extend(data);
    file
}

#[test]
fn the_programs_run_here_as_they_will_in_a_guest() {
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let ends = std::process::Command::new(write("ends", &that_ends())).status().unwrap();
    assert_eq!(ends.code(), Some(7));
    let mut hangs = std::process::Command::new(write("hangs", &that_hangs("stuck\n")))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 6];
    hangs.stdout.take().unwrap().read_exact(&mut said).unwrap();
    assert_eq!(&said, b"stuck\n");
    assert!(hangs.try_wait().unwrap().is_none());
    hangs.kill().unwrap();
    hangs.wait().unwrap();
}
