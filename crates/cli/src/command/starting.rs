//! Starts of a source's runs, as commands that deploy tell of them: the first one by a timer, and none at all.

use anyhow::Result;
use headwater_model::time::EpochMs;
use serde_json::Value;

use crate::client::Client;
use crate::source::text;
use crate::timestamp;
use crate::usage_error::UsageError;

/// Refuses code that nothing here would ever start, unless `former`, the source that gets it, has such code already: its author
/// knows.
///
/// # Errors
/// A `UsageError` that names the flag which deploys it anyway.
pub(super) async fn refuse_never(
    client: &Client,
    component: &Value,
    former: Option<&Value>,
    called: &str,
) -> Result<()> {
    if !can_never_fire(component) {
        return Ok(());
    }
    if let Some(former) = former {
        let path = ["components", text(former, "component_id")];
        // Another's component may be hidden from this user; the flag remains.
        if client.get(&path).await.is_ok_and(|it| can_never_fire(&it)) {
            return Ok(());
        }
    }
    Err(UsageError(format!(
        "{called} would never run by itself: it has no timer and no endpoint, and the events that it waits for go to \
         Pipedream's own servers. Deploy it with --anyway to run it by hand or on events of other sources; `headwater list \
         components` shows sources that poll"
    ))
    .into())
}

/// Whether nothing but an app's own events starts it, which do not reach the node.
fn can_never_fire(component: &Value) -> bool {
    let props = component["configurable_props"].as_array();
    let has = |kind: &str| {
        let mut props = props.into_iter().flatten();
        props.any(|prop| text(prop, "type") == kind)
    };
    has("$.interface.apphook") && !has("$.interface.timer") && !has("$.interface.http")
}

/// The time of the next run by a timer, such as `in 15 min`; `None` if the source has no timer, or the node is away.
pub(super) async fn next_run(client: &Client, source: &Value) -> Option<String> {
    let query = [("expand", "health".to_owned())];
    let path = ["sources", text(source, "id")];
    let source = client.get_data(&path, &query).await.ok()?;
    let at_ms = source["health"]["next_tick_at_ms"].as_i64()?;
    Some(until(at_ms, timestamp::now_ms()))
}

/// The time until then in its largest unit, to the nearest: a moment after a deploy, 15 minutes are still 15.
fn until(at_ms: i64, now_ms: EpochMs) -> String {
    let now = i64::try_from(now_ms.0).unwrap_or(i64::MAX);
    let half_of_unit_ms = match at_ms.saturating_sub(now) {
        ..=0 => return "at once".to_owned(),
        1..59_500 => 500,
        59_500..3_570_000 => 30_000,
        3_570_000.. => 1_800_000,
    };
    timestamp::age(at_ms.saturating_add(half_of_unit_ms), now_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_next_run_is_told_to_the_nearest() {
        let now = EpochMs(1_767_225_600_000);
        for (ms, told) in [
            (-1, "at once"),
            (800, "in 1 s"),
            (29_900, "in 30 s"),
            (59_700, "in 1 min"),
            (899_900, "in 15 min"),
            (3_599_000, "in 1 h"),
            (86_399_000, "in 24 h"),
        ] {
            assert_eq!(until(1_767_225_600_000 + ms, now), told, "{ms}");
        }
    }
}
