//! The layers of a node's sandbox, as the node lists them.

use headwater_model::sandbox_layer::LayerState;
use serde_json::Value;

use super::check::{Check, Verdict};

/// One line for each layer. Those that this binary does not know, a newer node's, are as the node says.
pub(super) fn checks(layers: &Value) -> Vec<Check> {
    let said = layers.as_object().into_iter().flatten();
    said.map(|(name, on)| check(name, on.as_bool().unwrap_or_default()))
        .collect()
}

fn check(name: &str, on: bool) -> Check {
    let shown = format!("sandbox: {name}");
    match LayerState::of(name, on) {
        LayerState::On(meaning) => Check::ok(&shown, meaning),
        LayerState::Absent(reason) => Check {
            verdict: Verdict::Skipped,
            ..Check::ok(&shown, reason)
        },
        LayerState::Wanting { absence, advice } => Check::failed(&shown, absence, advice),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Verdict, checks};

    #[test]
    fn a_layer_that_is_off_fails_only_where_there_is_advice() {
        let layers = json!({"confined": false, "landlock": false, "own_root": true, "newer": true});
        let checks = checks(&layers);
        let verdicts: Vec<_> = checks
            .iter()
            .map(|check| (check.name.as_str(), check.verdict, check.next.is_empty()))
            .collect();
        assert_eq!(
            verdicts,
            [
                ("sandbox: confined", Verdict::Failed, false),
                ("sandbox: landlock", Verdict::Skipped, true),
                ("sandbox: own_root", Verdict::Ok, true),
                ("sandbox: newer", Verdict::Ok, true),
            ]
        );
    }
}
