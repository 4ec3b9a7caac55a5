//! The layers of a node's sandbox for people: each with its effect, and with advice if it is off and
//! should not be. The node lists the layers.

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
        absence: "components and builds run UNCONFINED (--allow-unconfined): a flaw in the JavaScript \
                  runtime would expose the node's keys and data",
        advice: "allow user namespaces for the node (in a container: by the seccomp profile or \
                 CAP_SYS_ADMIN), or use Linux 6.2 or later with Landlock; then start it without \
                 --allow-unconfined",
    },
    Layer {
        name: "deno_permissions",
        meaning: "Deno refuses files, programs and addresses that components may not reach",
        absence: "Deno's permissions are off",
        advice: "",
    },
    Layer {
        name: "process_group",
        meaning: "a process ends with all that it has started",
        absence: "processes may leave others behind",
        advice: "",
    },
    Layer {
        name: "dies_with_node",
        meaning: "processes end with the node, also if it is killed",
        absence: "processes may outlive a node that is killed",
        advice: "",
    },
    Layer {
        name: "rlimits",
        meaning: "the kernel limits the memory, files and core dumps of each process",
        absence: "the kernel sets no limits for each process",
        advice: "",
    },
    Layer {
        name: "no_new_privs",
        meaning: "processes cannot gain rights by the programs that they start",
        absence: "processes may gain rights by the programs that they start",
        advice: "",
    },
    Layer {
        name: "own_root",
        meaning: "each process has a root of its own, without the machine's files",
        absence: "the kernel does not allow the node a mount namespace",
        advice: "",
    },
    Layer {
        name: "landlock",
        meaning: "Landlock refuses access to all other files",
        absence: "this kernel has no Landlock",
        advice: "",
    },
    Layer {
        name: "own_user",
        meaning: "processes run as a user other than the node's",
        absence: "processes run as the node's own user, because the node is not root",
        advice: "",
    },
    Layer {
        name: "no_capabilities",
        meaning: "processes have no capabilities and cannot gain any",
        absence: "the system has no capabilities",
        advice: "",
    },
    Layer {
        name: "seccomp",
        meaning: "calls to the kernel that no component needs are refused",
        absence: "Headwater has no system-call filter for this kind of machine",
        advice: "run the node on Linux on x86-64 or arm64",
    },
    Layer {
        name: "abstract_sockets",
        meaning: "Unix sockets of the machine are out of reach",
        absence: "--self-alias needs Unix sockets, and this kernel cannot distinguish the node's socket from others",
        advice: "run Linux 6.12 or later with Landlock, or the node in a network namespace of its own, or without \
                 --self-alias",
    },
    Layer {
        name: "ipv6_policy",
        meaning: "private addresses of IPv6 are refused like those of IPv4",
        absence: "private addresses of IPv6 are reachable",
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
