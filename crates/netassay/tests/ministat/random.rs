//! Random command lines and files, each from its own seed.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{ffi::OsStr, fmt::Write as _};

/// SplitMix64: as much randomness as test cases need.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to one less than `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// From -1 to 1.
    fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// A run of ministat.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) words: Vec<Vec<u8>>,
    pub(super) files: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) stdin: Vec<u8>,
    pub(super) posix: bool,
    pub(super) program: &'static str,
}

impl Case {
    pub(super) fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let random = &mut random;
        let text = Text::new(random);
        let mut options = options(random, &text);
        let count = match random.below(60) {
            0 => 0,
            1 => 8,
            _ => random.pick(&[1, 2, 2, 2, 3, 3, 4, 5, 6, 7]),
        };
        let mut files = Vec::new();
        let mut names: Vec<Vec<u8>> = Vec::new();
        for index in 0..count {
            let name: Vec<u8> = match random.below(150) {
                0 => b"missing".to_vec(),
                1 => b".".to_vec(),
                2 => vec![b'n', 0xff, b' ', b'0' + index],
                _ => vec![b'a' + index],
            };
            if name[0] != b'm' && name[0] != b'.' {
                files.push((name.clone(), text.file(random)));
            }
            let repeated = random.one_in(40) && !names.is_empty();
            names.push(if repeated { names[0].clone() } else { name });
        }
        let stdin = if names.is_empty() || random.one_in(15) { text.file(random) } else { Vec::new() };
        if !stdin.is_empty() && !names.is_empty() {
            names[0] = b"-".to_vec();
        }
        Case {
            words: mixed(random, &mut options, names),
            files,
            stdin,
            posix: random.one_in(12),
            program: random.pick(&["ministat", "ministat", "/opt/some where/ministat", "./ministat"]),
        }
    }

    pub(super) fn write_files(&self, directory: &Path) {
        for (name, text) in &self.files {
            fs::write(directory.join(OsStr::from_bytes(name)), text).unwrap();
        }
    }
}

/// Options come before, between and after files, sometimes up to a `--`.
fn mixed(random: &mut Random, options: &mut Vec<Vec<Vec<u8>>>, names: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let first = !random.one_in(3);
    for name in names {
        while !options.is_empty() && (first || random.one_in(2)) {
            words.extend(options.remove(0));
        }
        words.push(name);
    }
    words.extend(options.drain(..).flatten());
    if random.one_in(15) {
        words.insert(random.below(words.len() as u64 + 1) as usize, b"--".to_vec());
    }
    words
}

fn options(random: &mut Random, text: &Text) -> Vec<Vec<Vec<u8>>> {
    let mut options: Vec<Vec<Vec<u8>>> = Vec::new();
    // Without a plot more can be in the files.
    match if text.is_odd && !random.one_in(10) { random.below(2) } else { random.below(8) } {
        0 => options.push(vec![b"-n".to_vec()]),
        1 => options.push(vec![b"-A".to_vec()]),
        2 => options.push(vec![b"-s".to_vec()]),
        _ => {}
    }
    let mut with_value = |random: &mut Random, letter: char, value: &str| {
        let option = format!("-{letter}");
        options.push(if random.one_in(2) {
            vec![(option + value).into_bytes()]
        } else {
            vec![option.into_bytes(), value.as_bytes().to_vec()]
        });
    };
    if random.one_in(2) {
        let level = random.pick(&["80", "90", "95", "98", "99", "99.5", "9e1", "99.50", " 95"]);
        with_value(random, 'c', level);
    }
    if text.column > 1 || random.one_in(10) {
        with_value(random, 'C', &text.column.to_string());
    }
    if text.delimiters != " \t" || random.one_in(10) {
        with_value(random, 'd', &text.delimiters);
    }
    if random.one_in(2) {
        let width = random.below(120) + 2;
        with_value(random, 'w', &width.to_string());
    }
    if random.one_in(12) {
        let wrong: &[&str] = &[
            "-c 97",
            "-c 9o",
            "-c",
            "-C 0",
            "-C 2x",
            "-C -1",
            "-C",
            "-d",
            "-w -5",
            "-w 4x",
            "-w",
            "-Z",
            "-q",
            "-nZ",
            "-:",
            "--",
            "--modern",
            "--help",
            "-h",
            "-An",
            "-sA",
            "-c 90 -c 97",
            "-C 4294967297",
            "-w 4294967336",
        ];
        options.push(random.pick(wrong).split(' ').map(|word| word.as_bytes().to_vec()).collect());
    }
    if random.one_in(2) {
        options.reverse();
    }
    options
}

/// What the files of a case look like.
struct Text {
    column: usize,
    delimiters: String,
    numbers: u64,
    centre: f64,
    spread: f64,
    decimals: usize,
    /// There are infinities and other rarities.
    is_odd: bool,
    /// There are comments, empty lines and blanks.
    is_untidy: bool,
    ending: &'static str,
}

impl Text {
    fn new(random: &mut Random) -> Text {
        let delimiters = random.pick(&[" \t", " \t", " \t", ",", ";,", "e,", "\t", " "]);
        Text {
            column: random.pick(&[1, 1, 1, 2, 3]),
            delimiters: delimiters.to_owned(),
            numbers: random.below(8),
            centre: random.unit() * 10_f64.powi(random.below(9) as i32 - 2),
            spread: 10_f64.powi(random.below(7) as i32 - 3),
            decimals: random.below(9) as usize,
            is_odd: random.one_in(6),
            is_untidy: random.one_in(2),
            ending: random.pick(&["\n", "\n", "\n", "\r\n", " \n", "\t \n"]),
        }
    }

    fn file(&self, random: &mut Random) -> Vec<u8> {
        let lines = match random.below(150) {
            0 => random.below(3),
            1..6 => 200 + random.below(900),
            _ => 3 + random.below(40),
        };
        let shift = self.spread * random.unit();
        let mut text = String::new();
        for _ in 0..lines {
            if self.is_untidy && random.one_in(8) {
                if random.one_in(4) {
                    self.delimit(random, &mut text);
                }
                text.push_str(random.pick(&["", "# comment", "#5", "\t", "\u{b}", "\0x"]));
            } else {
                for _ in 1..self.column {
                    text.push_str(random.pick(&["a", "1", "+", "boot-2"]));
                    self.delimit(random, &mut text);
                }
                self.number(random, shift, &mut text);
                if random.one_in(8) {
                    self.delimit(random, &mut text);
                    text.push_str(random.pick(&["# x", "junk", "7", "\0hidden"]));
                }
            }
            text.push_str(self.ending);
        }
        if random.one_in(8) {
            text.truncate(text.trim_end().len());
        }
        if random.one_in(60) {
            text.push_str(&format!("{} 5\n", " ".repeat(8100 + random.below(100) as usize)));
        }
        if random.one_in(150) {
            text.push_str(random.pick(&["5x\n", "5#x\n", "nope\n", "1e\n", "--1\n", "5,\n"]));
        }
        text.into_bytes()
    }

    fn delimit(&self, random: &mut Random, text: &mut String) {
        for _ in 0..=u64::from(random.one_in(5)) {
            let delimiters: Vec<char> = self.delimiters.chars().collect();
            text.push(random.pick(&delimiters));
        }
    }

    fn number(&self, random: &mut Random, shift: f64, text: &mut String) {
        if self.is_odd && random.one_in(6) {
            text.push_str(random.pick(&[
                "inf",
                "-INF",
                "Infinity",
                "1e400",
                "-1e-400",
                "-0",
                "0",
                "+.5",
                "5.",
                "1e+3",
                "9007199254740993",
                "123456789012345678901234567890",
                "4.9e-324",
                "1e200",
            ]));
            return;
        }
        let value = self.centre + shift + self.spread * random.unit();
        let decimals = self.decimals;
        let written = match self.numbers {
            0 => write!(text, "{}", random.below(12)),
            1 => write!(text, "{}", random.below(9) as i64 - 4),
            2 => write!(text, "{value:.decimals$e}"),
            3 => write!(text, "{}", 1e9 + 0.1 * random.below(30) as f64),
            4 => write!(text, "{}", value * 1e90 * 10_f64.powi(random.below(3) as i32)),
            5 => write!(text, "{value}"),
            _ => write!(text, "{value:.decimals$}"),
        };
        written.unwrap();
    }
}
