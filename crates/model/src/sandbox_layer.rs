//! The layers of a node's sandbox for people: each with its effect, and with advice if it is off and should not be. The
//! engine says which of them a machine has.

/// A layer.
#[derive(Debug, Clone, Copy)]
pub struct SandboxLayer {
    /// Its name in `/readyz`.
    pub name: &'static str,
    /// Its effect where it is on.
    pub meaning: &'static str,
    /// Why it is off.
    pub absence: &'static str,
    /// The advice about that; empty where the others are enough.
    pub advice: &'static str,
}

impl SandboxLayer {
    /// The layer of that name, if it is known: that of a newer node may not be.
    pub fn named(name: &str) -> Option<&'static Self> {
        LAYERS.iter().find(|layer| layer.name == name)
    }
}

const LAYERS: &[SandboxLayer] = &[
    SandboxLayer {
        name: "confined",
        meaning: "components and builds see only the files that they need",
        absence: "components and builds run UNCONFINED (--allow-unconfined): a flaw in the JavaScript \
                  runtime would expose the node's keys and data",
        advice: "allow user namespaces for the node (in a container: by the seccomp profile or \
                 CAP_SYS_ADMIN), or use Linux 6.2 or later with Landlock; then start it without \
                 --allow-unconfined",
    },
    SandboxLayer {
        name: "own_root",
        meaning: "each process has a root of its own, without the machine's files",
        absence: "the kernel does not allow the node a mount namespace",
        advice: "",
    },
    SandboxLayer {
        name: "landlock",
        meaning: "Landlock refuses access to all other files",
        absence: "this kernel has no Landlock",
        advice: "",
    },
    SandboxLayer {
        name: "own_user",
        meaning: "processes run as a user other than the node's",
        absence: "processes run as the node's own user, because the node is not root",
        advice: "",
    },
    SandboxLayer {
        name: "no_capabilities",
        meaning: "processes have no capabilities and cannot gain any",
        absence: "the system has no capabilities",
        advice: "",
    },
    SandboxLayer {
        name: "seccomp",
        meaning: "calls to the kernel that no component needs are refused",
        absence: "Headwater has no system-call filter for this kind of machine",
        advice: "run the node on Linux on x86-64 or arm64",
    },
    SandboxLayer {
        name: "abstract_sockets",
        meaning: "Unix sockets of the machine are out of reach",
        absence: "--self-alias needs Unix sockets, and this kernel cannot distinguish the node's socket from others",
        advice: "run Linux 6.12 or later with Landlock, or the node in a network namespace of its own, or without \
                 --self-alias",
    },
    SandboxLayer {
        name: "ipv6_policy",
        meaning: "private addresses of IPv6 are refused like those of IPv4",
        absence: "private addresses of IPv6 are reachable",
        advice: "turn IPv6 off for the node, or run it on Linux on x86-64 or arm64",
    },
];
