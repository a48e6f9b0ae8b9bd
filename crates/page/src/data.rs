//! A study's measurements inside a page.

use std::io::Write as _;

use chart::File;
use flate2::Compression;
use flate2::write::GzEncoder;
use store::StoredStudy;

use crate::name::file_stem;

/// A study's measurements as a compressed file inside the page: [`store::export::packed`] as JSON.
/// The script of the page makes the study's CSV and JSON of it.
#[derive(Debug, Clone)]
pub struct Data {
    /// The name of the files that it becomes, without their endings.
    pub(crate) stem: String,
    /// The study's number.
    pub(crate) number: i64,
    /// The number of its runs, warm-ups and those that do not count included.
    pub(crate) runs: usize,
    /// The file.
    pub(crate) file: File,
}

/// From so many bytes on, time counts for more than room, which is a third more then: a study of
/// 432 conditions and 3,600 runs has 11 MB, one of 10,000 runs some 20 MB.
const LARGE: usize = 1 << 24;

/// The same before it is compressed, which takes as long as all figures of a page.
#[derive(Debug)]
pub struct Packed {
    stem: String,
    number: i64,
    runs: usize,
    json: Vec<u8>,
}

impl Packed {
    /// The measurements of a study, with every text as it is stored.
    #[must_use]
    pub fn of(study: &StoredStudy) -> Self {
        let packed = store::export::packed(study, report::unit_of);
        Self {
            stem: file_stem([(study.row.name.as_str(), study.row.id.0)]),
            number: study.row.id.0,
            runs: study.runs.len(),
            json: serde_json::to_vec(&packed).expect("texts and lists are JSON"),
        }
    }

    /// The compressed file.
    #[must_use]
    pub fn compressed(&self) -> Data {
        let level = if self.json.len() > LARGE { Compression::fast() } else { Compression::best() };
        let mut gzip = GzEncoder::new(Vec::new(), level);
        // Nothing fails in memory.
        gzip.write_all(&self.json).expect("writing to memory cannot fail");
        let bytes = gzip.finish().expect("writing to memory cannot fail");
        Data {
            stem: self.stem.clone(),
            number: self.number,
            runs: self.runs,
            file: File { media: "application/gzip", bytes },
        }
    }
}

impl Data {
    /// The measurements of a study, with every text as it is stored.
    #[must_use]
    pub fn of(study: &StoredStudy) -> Self {
        Packed::of(study).compressed()
    }

    /// What is in the files, and what is not.
    pub(crate) fn about(&self) -> String {
        format!(
            "The CSV is that of netassay export {0} --format csv. The JSON is that of netassay show {0} --format json without the full account of each run, which only the database has.",
            self.number
        )
    }
}
