//! The table: what was measured on both sides, the ratio, and the budget.

use std::fmt;

use crate::rounds::{Compared, Figures};

/// What a figure is held against.
pub(crate) enum Budget {
    AtLeast(f64, &'static str),
    AtMost(f64, &'static str),
    /// Reported because it explains another figure.
    None,
}

/// A line of the table.
pub(crate) struct Line {
    pub(crate) what: String,
    pub(crate) ours: String,
    pub(crate) bare: String,
    /// The figure that the budget is about.
    pub(crate) figure: f64,
    pub(crate) shown: String,
    pub(crate) budget: Budget,
}

/// All lines.
#[derive(Default)]
pub(crate) struct Report {
    lines: Vec<[String; 6]>,
}

impl Report {
    pub(crate) fn add(&mut self, line: Line) {
        let (budget, met) = match line.budget {
            Budget::AtLeast(least, text) => (format!("≥ {text}"), verdict(line.figure >= least)),
            Budget::AtMost(most, text) => (format!("≤ {text}"), verdict(line.figure <= most)),
            Budget::None => (String::new(), ""),
        };
        let cells = [
            line.what,
            line.ours,
            line.bare,
            line.shown,
            budget,
            met.to_owned(),
        ];
        eprintln!("    {}", cells.join(" │ "));
        self.lines.push(cells);
    }

    /// Requests per second of both sides, and their ratio.
    pub(crate) fn compare(&mut self, what: &str, compared: &Compared, budget: Budget) {
        let ratio = compared.ratio() * 100.0;
        self.add(Line {
            what: what.to_owned(),
            ours: rate(&compared.ours),
            bare: rate(&compared.bare),
            figure: ratio,
            shown: format!("{ratio:.0} %"),
            budget,
        });
    }
}

fn rate(figures: &Figures) -> String {
    let Figures {
        per_second,
        p50,
        p99,
        cpu,
        ..
    } = figures;
    format!(
        "{per_second:.0}/s, p50 {:.2} p99 {:.2} ms, {cpu:.0} µs CPU",
        p50 / 1e3,
        p99 / 1e3
    )
}

fn verdict(met: bool) -> &'static str {
    match met {
        true => "met",
        false => "missed",
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head =
            ["what", "headwater", "compared with", "figure", "budget", ""].map(str::to_owned);
        let mut widths = head.each_ref().map(|cell| cell.chars().count());
        for line in &self.lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = cell.chars().count().max(*width);
            }
        }
        let rule = widths.map(|width| "-".repeat(width));
        for line in [&head, &rule].into_iter().chain(&self.lines) {
            f.write_str("|")?;
            for (width, cell) in widths.iter().zip(line) {
                write!(f, " {cell:<width$} |")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
