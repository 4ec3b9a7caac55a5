//! The layers of a node's sandbox for people: each with what it does, and with advice where it is off and
//! should not be. The node says which layers there are.

use serde_json::Value;

use super::check::{Check, Verdict};

/// A layer.
struct Layer {
    name: &'static str,
    /// Its effect where it is on.
    meaning: &'static str,
    /// Why it is off.
    absence: &'static str,
    /// The advice about that; empty where the others are enough.
    advice: &'static str,
}

const LAYERS: &[Layer] = &[
    Layer {
        name: "confined",
        meaning: "components and builds see only the files that they need",
        absence: "components and builds run UNCONFINED (--allow-unconfined): a flaw in the JavaScript runtime opens \
                  the node's keys and data",
        advice: "allow user namespaces to the node (in containers: the seccomp profile, or CAP_SYS_ADMIN), or run \
                 Linux 6.2 or later with Landlock; then start it without --allow-unconfined",
    },
    Layer {
        name: "own_root",
        meaning: "each process has a root of its own, without the machine's files",
        absence: "the kernel gives the node no mount namespace",
        advice: "",
    },
    Layer {
        name: "landlock",
        meaning: "the kernel refuses all other files by Landlock",
        absence: "this kernel has no Landlock",
        advice: "",
    },
    Layer {
        name: "own_user",
        meaning: "processes are another user than the node",
        absence: "processes are the node's own user, as always where the node is not root",
        advice: "",
    },
    Layer {
        name: "no_capabilities",
        meaning: "processes have no capability and can get none",
        absence: "the system has no capabilities",
        advice: "",
    },
    Layer {
        name: "seccomp",
        meaning: "calls to the kernel that no component needs are refused",
        absence: "this kind of machine has no filter for calls to the kernel",
        advice: "run the node on Linux on x86-64 or arm64",
    },
    Layer {
        name: "abstract_sockets",
        meaning: "Unix sockets of the machine are out of reach",
        absence: "--self-alias needs Unix sockets, and this kernel cannot tell the node's from others",
        advice: "run Linux 6.12 or later with Landlock, or the node in a network namespace of its own, or without \
                 --self-alias",
    },
    Layer {
        name: "ipv6_policy",
        meaning: "private addresses of IPv6 are refused like those of IPv4",
        absence: "private addresses of IPv6 may be reached",
        advice: "turn IPv6 off for the node, or run it on Linux on x86-64 or arm64",
    },
];

/// One line for each layer. Those that this binary does not know, a newer node's, are as the node says.
pub(super) fn checks(layers: &Value) -> Vec<Check> {
    let said = layers.as_object().into_iter().flatten();
    said.map(|(name, on)| check(name, on.as_bool().unwrap_or_default()))
        .collect()
}

fn check(name: &str, on: bool) -> Check {
    let shown = format!("sandbox: {name}");
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        return match on {
            true => Check::ok(&shown, "on"),
            false => Check {
                verdict: Verdict::Skipped,
                ..Check::ok(&shown, "not on this machine")
            },
        };
    };
    match (on, layer.advice) {
        (true, _) => Check::ok(&shown, layer.meaning),
        (false, "") => Check {
            verdict: Verdict::Skipped,
            ..Check::ok(&shown, layer.absence)
        },
        (false, advice) => Check::failed(&shown, layer.absence, advice),
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
