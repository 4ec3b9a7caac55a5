//! The layers of a node's sandbox for people: each with its effect, and with advice if it is off and should not be. The
//! engine says which of them a machine has.

/// The state of a layer on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerState {
    /// It is on, with this effect.
    On(&'static str),
    /// It is off for this reason, and the others are enough.
    Absent(&'static str),
    /// It is off and should not be.
    Wanting {
        /// Why it is off.
        absence: &'static str,
        /// The next step.
        advice: &'static str,
    },
}

impl LayerState {
    /// The state of the layer with this name in `/readyz`. That of a newer node may not be known.
    pub fn of(name: &str, is_on: bool) -> Self {
        let layer = LAYERS.iter().find(|layer| layer.name == name);
        match (layer, is_on) {
            (None, true) => Self::On("on"),
            (None, false) => Self::Absent("not on this machine"),
            (Some(layer), true) => Self::On(layer.meaning),
            (Some(layer), false) if layer.advice.is_empty() => Self::Absent(layer.absence),
            (Some(layer), false) => Self::Wanting {
                absence: layer.absence,
                advice: layer.advice,
            },
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_that_is_off_is_wanting_only_where_there_is_advice() {
        let confined = LayerState::of("confined", false);
        assert!(matches!(confined, LayerState::Wanting { .. }));
        assert!(matches!(
            LayerState::of("landlock", false),
            LayerState::Absent(_)
        ));
        assert!(matches!(
            LayerState::of("own_root", true),
            LayerState::On(_)
        ));
        assert_eq!(LayerState::of("newer", true), LayerState::On("on"));
    }
}
