//! The table: what was measured on both sides, the ratio, and the budget.

use std::fmt;

use crate::{
    rounds::{Compared, Figures},
    statistics::median,
};

/// The limit of a figure.
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
    lines: Vec<Line>,
}

impl Report {
    pub(crate) fn add(&mut self, line: Line) {
        eprintln!("    {}", line.cells().join(" │ "));
        self.lines.push(line);
    }

    /// Requests per second of all sides, and the ratio of ours to the others; `bare` names the bare server.
    pub(crate) fn compare(&mut self, what: &str, bare: &str, compared: &Compared, budget: Budget) {
        let ratio = compared.ratio() * 100.0;
        self.add(Line {
            what: format!("{what}, {bare}"),
            ours: rate(&compared.ours),
            bare: rate(&compared.bare),
            figure: ratio,
            shown: format!("{ratio:.0} %"),
            budget,
        });
        let Some(other) = &compared.other else {
            return;
        };
        let ratio = compared.ours.per_second / other.per_second * 100.0;
        self.add(Line {
            what: format!("the same: {what}"),
            ours: rate(&compared.ours),
            bare: format!("the other build: {}", rate(other)),
            figure: ratio,
            shown: format!("{ratio:.0} %"),
            budget: Budget::None,
        });
    }

    /// The lines of our last turn, each with the medians of the figures that both builds reported in turns.
    pub(crate) fn add_turns(&mut self, mut ours: Vec<Self>, others: &[Self]) {
        let middle = |turns: &[Self], line: usize| {
            let figures = turns.iter().filter_map(|turn| turn.lines.get(line));
            median(&figures.map(|line| line.figure).collect::<Vec<_>>())
        };
        let turns = ours.len();
        let lines = ours.first().map_or(0, |turn| turn.lines.len());
        let middles: Vec<(f64, f64)> = (0..lines)
            .map(|line| (middle(&ours, line), middle(others, line)))
            .collect();
        let last = ours.pop().unwrap_or_default();
        for (mut line, (ours, other)) in last.lines.into_iter().zip(middles) {
            let what = format!("median of {turns} turns: {}", line.what);
            line.what.push_str(", last turn");
            self.lines.push(line);
            self.add(Line {
                what,
                ours: format!("{ours:.2}"),
                bare: format!("the other build: {other:.2}"),
                figure: ours / other,
                shown: format!("{:.0} %", ours / other * 100.0),
                budget: Budget::None,
            });
        }
    }
}

impl Line {
    fn cells(&self) -> [String; 6] {
        let (budget, met) = match self.budget {
            Budget::AtLeast(least, text) => (format!("≥ {text}"), verdict(self.figure >= least)),
            Budget::AtMost(most, text) => (format!("≤ {text}"), verdict(self.figure <= most)),
            Budget::None => (String::new(), ""),
        };
        [
            self.what.clone(),
            self.ours.clone(),
            self.bare.clone(),
            self.shown.clone(),
            budget,
            met.to_owned(),
        ]
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

/// Bytes as people read them.
pub(crate) fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
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
        let lines: Vec<[String; 6]> = self.lines.iter().map(Line::cells).collect();
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = cell.chars().count().max(*width);
            }
        }
        let rule = widths.map(|width| "-".repeat(width));
        for line in [&head, &rule].into_iter().chain(&lines) {
            f.write_str("|")?;
            for (width, cell) in widths.iter().zip(line) {
                write!(f, " {cell:<width$} |")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
