//! A study's measurements inside a page.

use results::chart::EmbeddedFile;
use store::StoredStudy;

use crate::gzip::gzip;
use crate::name::file_stem;

/// A study's measurements as a compressed file inside the page: [`store::export::packed`] as JSON.
/// The script of the page makes the study's CSV and JSON of it.
#[derive(Debug, Clone)]
pub struct Download {
    /// The name of the files that it becomes, without their endings.
    pub(crate) stem: String,
    pub(crate) number: i64,
    /// The number of its runs, warm-ups and those that do not count included.
    pub(crate) runs: usize,
    pub(crate) file: EmbeddedFile,
}

/// The files before they are compressed, which takes as long as all figures of a page.
#[derive(Debug)]
pub struct PackedStudy {
    stem: String,
    number: i64,
    runs: usize,
    json: Vec<u8>,
}

impl PackedStudy {
    /// The measurements of a study, with every text as it is stored.
    #[must_use]
    pub fn from_stored(study: &StoredStudy) -> Self {
        let packed = store::export::packed(study, results::unit_of);
        Self {
            stem: file_stem([(study.row.name.as_str(), study.row.id.0)]),
            number: study.row.id.0,
            runs: study.runs.len(),
            json: serde_json::to_vec(&packed).expect("texts and lists are JSON"),
        }
    }

    /// The compressed file.
    #[must_use]
    pub fn compressed(&self) -> Download {
        Download {
            stem: self.stem.clone(),
            number: self.number,
            runs: self.runs,
            file: EmbeddedFile { media: "application/gzip", bytes: gzip(&self.json) },
        }
    }
}

impl Download {
    /// The content of the files, and the parts that are left out.
    pub(crate) fn about(&self) -> String {
        format!(
            "The CSV is that of netassay db export {0} --format csv. The JSON is that of netassay show {0} --format json without the full account of each run, which only the database has.",
            self.number
        )
    }
}
