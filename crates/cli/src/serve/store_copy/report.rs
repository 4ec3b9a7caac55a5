//! Tables and lines about a copy, for people and programs.

use anyhow::Result;
use headwater_store::{
    FileUsage,
    transfer::{CopiedTable, Part},
};
use parking_lot::Mutex;
use serde_json::json;

use crate::{output, table};

/// Rows of a table between two lines about it.
const ROWS_PER_LINE: u64 = 1_000_000;

/// Lines on standard error while rows pass.
#[derive(Default)]
pub(super) struct Progress(Mutex<Option<Line>>);

/// The last line: the part, the table and its rows.
struct Line {
    part: Part,
    table: String,
    rows: u64,
}

impl Progress {
    /// Hears of so many rows of a table until now: tells of each table that is copied, of the beginning of the second part,
    /// and of large tables from time to time.
    pub(super) fn hear(&self, part: Part, table: &str, rows: u64) {
        let mut last = self.0.lock();
        let in_part = last.as_ref().filter(|line| line.part == part);
        let in_table = in_part.filter(|line| line.table == table);
        let told = in_table.map_or(0, |line| line.rows);
        let line = match part {
            _ if rows >= told + ROWS_PER_LINE => Some(format!("{table}: {rows} rows")),
            Part::Copying => {
                let is_first = in_table.is_none() && rows > 0;
                is_first.then(|| format!("copying {table}"))
            }
            Part::Verifying => in_part.is_none().then(|| "verifying".to_owned()),
        };
        let Some(line) = line else { return };
        output::note(&line);
        *last = Some(Line {
            part,
            table: table.to_owned(),
            rows,
        });
    }
}

/// All that was copied.
pub(super) struct Report {
    pub(super) tables: Vec<CopiedTable>,
    pub(super) files: FileUsage,
}

impl Report {
    pub(super) fn print(&self, as_json: bool) -> Result<()> {
        let FileUsage { files, bytes } = self.files;
        if as_json {
            let tables = self.tables.iter();
            let tables = tables.map(|table| json!({"name": table.name, "rows": table.rows}));
            return output::json(&json!({
                "tables": tables.collect::<Vec<_>>(),
                "files": {"files": files, "bytes": bytes},
            }));
        }
        let with_rows = self.tables.iter().filter(|table| table.rows > 0);
        let mut rows: Vec<_> = with_rows
            .map(|table| vec![table.name.clone(), table.rows.to_string()])
            .collect();
        rows.sort_unstable();
        rows.push(vec![format!("files ({bytes} bytes)"), files.to_string()]);
        output::data(&table::part(&["table", "rows"], rows))
    }
}
