//! Timers: an interval, a cron expression, or what the component says; with the times that follow from it.

use headwater_model::{prop::ConfiguredProps, schedule::Schedule};
use maud::{Markup, html};

use super::frame::Field;
use crate::{
    form::{Part, UNITS, field as name_of, read_all, ticks},
    part::{schedule::in_words, text, time},
    problem::capital,
};

/// The times that are shown.
const TICKS: usize = 5;

/// The field of a timer.
pub(super) fn timer(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    if prop.attributes.contains_key("static") {
        let schedule = prop.schedule(None);
        return field.group(html! {
            p { "Fixed by the component: " (schedule.map_or_else(|invalid| invalid.to_string(), |it| in_words(&it))) }
        });
    }
    let part = |part| field.entered.part(part, &prop.name);
    let own = prop
        .schedule(None)
        .map_or_else(|invalid| invalid.to_string(), |own| in_words(&own));
    let kind = part(Part::Kind).unwrap_or_default();
    let zone = part(Part::Zone).unwrap_or("UTC");
    let unit = part(Part::Unit).unwrap_or("minutes");
    let id = |name: &str| format!("{}-{name}", field.id);
    let radio = |value: &str| {
        html! {
            input type="radio" #(id(&format!("kind-{value}"))) name=(name_of(Part::Kind, &prop.name)) value=(value) checked[kind == value];
        }
    };
    field.group(html! {
        label.choice { (radio("")) "As the component has it: " (text::line(&own)) }
        div.choice {
            label { (radio("interval")) "Every" }
            " "
            input.short #(id("every")) name=(name_of(Part::Every, &prop.name)) value=(part(Part::Every).unwrap_or_default())
                inputmode="numeric" autocomplete="off" aria-label="Number" aria-invalid=[field.is_wrong()];
            " "
            select #(id("unit")) name=(name_of(Part::Unit, &prop.name)) aria-label="Unit" {
                @for known in UNITS.iter().rev() { option value=(known.name) selected[known.name == unit] { (known.name) } }
            }
        }
        div.choice {
            label { (radio("cron")) "By cron expression" }
            " "
            input.mono #(id("cron")) name=(name_of(Part::Cron, &prop.name)) value=(part(Part::Cron).unwrap_or_default())
                placeholder="0 9 * * 1-5" autocomplete="off" spellcheck="false" aria-label="Cron expression" aria-invalid=[field.is_wrong()];
            " "
            span.pair {
                label for=(id("zone")) { "in zone " }
                input #(id("zone")) name=(name_of(Part::Zone, &prop.name)) value=(zone) autocomplete="off" spellcheck="false";
            }
        }
        (next(field))
    })
}

/// The times that follow from what is entered.
fn next(field: &Field<'_>) -> Markup {
    let given = read_all(std::slice::from_ref(field.prop), field.entered);
    if let Some(wrong) = given.wrong.first().filter(|_| field.wrong.is_none()) {
        return html! { p.hint.ticks { (text::sentence(&capital(&wrong.reason))) } };
    }
    let Some(schedule) = schedule(field, &given.values) else {
        return html! {};
    };
    let times = ticks(&schedule, field.around.now_ms, TICKS);
    html! {
        details.ticks {
            summary { (in_words(&schedule)) ": the next times" }
            @if times.is_empty() { p.wrong { "It never fires." } }
            ol { @for tick in times { li { (time::exact(tick)) " (" (time::ago(tick, field.around.now_ms)) ")" } } }
        }
    }
}

fn schedule(field: &Field<'_>, values: &ConfiguredProps) -> Option<Schedule> {
    field.prop.schedule(values.get(&field.prop.name)).ok()
}
