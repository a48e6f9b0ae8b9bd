//! What a study asks, as a report needs it to judge the results.

use serde::{Deserialize, Serialize};

use crate::model::protocol::Protocol;
use crate::model::study::Study;

/// What a study asks: kept with its plan, so that results are judged as they were planned, whatever
/// becomes of the grammar of study files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The question, in its author's words.
    pub question: String,
    /// How often and in which order conditions are measured, and when the study may stop.
    pub protocol: Protocol,
}

impl Asked {
    /// What a study asks.
    pub fn of(study: &Study) -> Self {
        Self { question: study.question().to_owned(), protocol: study.protocol().clone() }
    }
}
