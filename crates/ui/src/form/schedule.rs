//! Timers as fields: a number with a unit, or a cron expression with a time zone.

use headwater_model::{schedule::Schedule, time::EpochMs};
use serde_json::{Value, json};

use super::entered::{Entered, Part};

/// A unit of intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Its name in the form.
    pub(crate) name: &'static str,
    seconds: u64,
}

/// The units, the largest first.
pub(crate) const UNITS: [Unit; 4] = [
    Unit {
        name: "days",
        seconds: 86_400,
    },
    Unit {
        name: "hours",
        seconds: 3_600,
    },
    Unit {
        name: "minutes",
        seconds: 60,
    },
    Unit {
        name: "seconds",
        seconds: 1,
    },
];

/// The value of a timer; none: as the component has it.
pub(super) fn read(prop: &str, entered: &Entered) -> Result<Option<Value>, String> {
    let value = match entered.part(Part::Kind, prop) {
        Some("cron") => {
            let expression = entered.part(Part::Cron, prop).map(str::trim);
            let expression = expression.ok_or("give a cron expression, such as `0 9 * * 1-5`")?;
            let zone = entered.part(Part::Zone, prop).map_or("UTC", str::trim);
            json!({ "cron": expression, "timezone": zone })
        }
        Some("interval") => {
            let text = entered.part(Part::Every, prop).map(str::trim);
            let text = text.ok_or("give a number, such as 15")?;
            let number: u64 = text
                .parse()
                .map_err(|_| format!("`{text}` is not a whole number"))?;
            let unit = entered.part(Part::Unit, prop);
            let unit = UNITS.iter().find(|known| Some(known.name) == unit);
            let seconds = unit.map_or(60, |unit| unit.seconds);
            let seconds = number
                .checked_mul(seconds)
                .ok_or("the interval is too long")?;
            json!({ "interval_seconds": seconds })
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// The fields of a timer.
pub(super) fn fill(prop: &str, value: &Value, entered: &mut Entered) {
    match Schedule::parse(value) {
        Ok(Schedule::Interval { seconds }) => {
            let fitting = UNITS
                .iter()
                .find(|unit| seconds.is_multiple_of(unit.seconds));
            let unit = fitting.unwrap_or(&UNITS[3]);
            entered.set(Part::Kind, prop, "interval");
            entered.set(Part::Every, prop, (seconds / unit.seconds).to_string());
            entered.set(Part::Unit, prop, unit.name);
        }
        Ok(Schedule::Cron {
            expression,
            timezone,
        }) => {
            entered.set(Part::Kind, prop, "cron");
            entered.set(Part::Cron, prop, expression);
            entered.set(Part::Zone, prop, timezone);
        }
        Err(_) => {}
    }
}

/// The next times at which a timer fires that is started now.
pub(crate) fn ticks(schedule: &Schedule, now_ms: EpochMs, count: usize) -> Vec<EpochMs> {
    let first = schedule.first_after(now_ms);
    std::iter::successors(first, |due| schedule.next_after(*due, *due))
        .take(count)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_times_follow_each_other() {
        let start = EpochMs(1_700_000_000_000);
        let interval = Schedule::Interval { seconds: 60 };
        let expected: Vec<_> = (1..=3).map(|n| EpochMs(start.0 + n * 60_000)).collect();
        assert_eq!(ticks(&interval, start, 3), expected);
        let daily = Schedule::parse(&json!({"cron": "0 9 * * *"})).unwrap();
        let times = ticks(&daily, start, 2);
        assert_eq!(times[1].0 - times[0].0, 86_400_000);
        let once = Schedule::parse(&json!({"cron": "0 0 30 2 *"}));
        assert!(once.map_or(0, |never| ticks(&never, start, 2).len()) == 0);
    }
}
