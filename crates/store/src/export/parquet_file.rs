//! A study as a Parquet file, which DuckDB and pandas read as it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use serde_json::json;

use super::units;
use crate::records::{StoredRun, StoredStudy};

/// A row for each run, warm-ups, failed and disturbed ones included. Its columns are those of the
/// CSV, but one for each metric; and one for each factor (`factor_NAME`) and for each label of the
/// pair (`pair_LABEL`).
///
/// The metadata of the file has the unit of each metric, as JSON: `units` in `netassay`, and in
/// `PANDAS_ATTRS`, which pandas shows as `attrs` of its frame. `None` in a build without Parquet.
pub fn parquet(study: &StoredStudy) -> Option<Vec<u8>> {
    Some(write(study, &columns(study)).expect("nothing fails in memory, and columns are of one length"))
}

enum Values {
    Number(Vec<i64>),
    /// Milliseconds since 1970 (UTC).
    Time(Vec<i64>),
    Flag(Vec<bool>),
    Real(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
}

fn columns(study: &StoredStudy) -> Vec<(String, Values)> {
    let number = |of: &dyn Fn(&StoredRun) -> u32| {
        Values::Number(study.runs.iter().map(|run| i64::from(of(run))).collect())
    };
    let text = |of: &dyn Fn(&StoredRun) -> Option<String>| Values::Text(study.runs.iter().map(of).collect());
    let row = &study.row;
    let mut columns = vec![
        ("study".to_owned(), Values::Number(vec![row.id.0; study.runs.len()])),
        ("name".to_owned(), text(&|_| Some(row.name.clone()))),
    ];
    if let Some(pair) = &row.pair {
        columns.push(("campaign".to_owned(), text(&|_| Some(pair.campaign.clone()))));
        columns.push(("pair".to_owned(), text(&|_| Some(pair.to_string()))));
        for (label, value) in &pair.labels {
            columns.push((format!("pair_{label}"), text(&|_| Some(value.clone()))));
        }
    }
    columns.extend([
        ("boot".to_owned(), number(&|run| run.boot)),
        ("part".to_owned(), number(&|run| run.part)),
        ("block".to_owned(), number(&|run| run.block)),
        ("repeat".to_owned(), number(&|run| run.repeat)),
        ("position".to_owned(), number(&|run| run.position)),
        ("warmup".to_owned(), Values::Flag(study.runs.iter().map(|run| run.warmup).collect())),
        ("condition".to_owned(), number(&|run| u32::try_from(run.condition).unwrap_or(u32::MAX))),
        ("label".to_owned(), text(&|run| Some(study.label(run.condition)))),
    ]);
    let levels = |run: &StoredRun| study.plan.conditions.get(run.condition).map(|one| &one.levels);
    let factors: BTreeSet<&String> =
        study.plan.conditions.iter().flat_map(|one| one.levels.iter().map(|(factor, _)| factor)).collect();
    for factor in factors {
        let level = |run: &StoredRun| levels(run)?.iter().find(|(of, _)| of == factor);
        let level = |run: &StoredRun| level(run).map(|(_, level)| level.clone());
        columns.push((format!("factor_{factor}"), text(&level)));
    }
    let started = study.runs.iter().map(|run| run.started_unix_ms).collect();
    columns.extend([
        ("started".to_owned(), Values::Time(started)),
        ("status".to_owned(), text(&|run| Some(run.status.word().to_owned()))),
        ("reason".to_owned(), text(&|run| run.reason.clone())),
        ("limited_by".to_owned(), text(&|run| Some(run.limited_by.as_ref()?.label.word().to_owned()))),
    ]);
    columns.extend(units(study).into_keys().map(|metric| {
        let values = study.runs.iter().map(|run| run.metrics.get(metric)).collect();
        (metric.key.to_owned(), Values::Real(values))
    }));
    columns
}

fn write(study: &StoredStudy, columns: &[(String, Values)]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(|(name, values)| Ok(Arc::new(field(name, values)?)));
    let fields: Vec<TypePtr> = fields.collect::<Result<_, ParquetError>>()?;
    let schema = Type::group_type_builder("runs").with_fields(fields).build()?;
    let about = json!({ "version": study.row.version, "units": units(study) });
    let metadata = ["netassay", "PANDAS_ATTRS"].map(|key| KeyValue::new(key.to_owned(), about.to_string()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .set_key_value_metadata(Some(metadata.into()));
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
    if !study.runs.is_empty() {
        let mut rows = file.next_row_group()?;
        for (_, values) in columns {
            let mut column = rows.next_column()?.expect("each column has a field");
            fill(&mut column, values)?;
            column.close()?;
        }
        rows.close()?;
    }
    file.into_inner()
}

fn field(name: &str, values: &Values) -> Result<Type, ParquetError> {
    let utc = LogicalType::timestamp(true, TimeUnit::MILLIS);
    let (physical, logical, repetition) = match values {
        Values::Number(_) => (Physical::INT64, None, Repetition::REQUIRED),
        Values::Time(_) => (Physical::INT64, Some(utc), Repetition::REQUIRED),
        Values::Flag(_) => (Physical::BOOLEAN, None, Repetition::REQUIRED),
        Values::Real(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
    };
    let field = Type::primitive_type_builder(name, physical);
    field.with_logical_type(logical).with_repetition(repetition).build()
}

fn fill(column: &mut SerializedColumnWriter<'_>, values: &Values) -> Result<usize, ParquetError> {
    match values {
        Values::Number(values) | Values::Time(values) => {
            column.typed::<Int64Type>().write_batch(values.as_slice(), None, None)
        }
        Values::Flag(values) => column.typed::<BoolType>().write_batch(values.as_slice(), None, None),
        Values::Real(values) => {
            let present: Vec<f64> = values.iter().flatten().copied().collect();
            column.typed::<DoubleType>().write_batch(present.as_slice(), Some(&levels(values)), None)
        }
        Values::Text(values) => {
            let present: Vec<ByteArray> = values.iter().flatten().map(|text| text.as_str().into()).collect();
            column.typed::<ByteArrayType>().write_batch(present.as_slice(), Some(&levels(values)), None)
        }
    }
}

/// 1 for each value that is there, 0 for each that is not.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}
