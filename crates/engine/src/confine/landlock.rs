//! Landlock: the plan's view of files as kernel rules, with other processes' sockets and signals out of reach.
//!
//! A second layer for a process with a root of its own; without one, the only layer for files. Not responsible for
//! detecting which of the two a machine offers.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use super::{
    failure::{Failure, Step},
    plan::{Access, Entry, Method, Plan},
};

/// The newest rules requested; an older kernel enforces those that it knows.
const NEWEST: ABI = ABI::V6;

/// Restricts this process to the files of the plan.
pub(super) fn restrict(plan: &Plan) -> Result<(), Failure> {
    if plan.method == Method::Unconfined {
        return Ok(());
    }
    let failed = || "setting up Landlock".to_owned();
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .step(failed)?
        // A process that a step starts is in the same domain, and can be ended.
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .step(failed)?
        .create()
        .step(failed)?;
    for (path, rights) in rules(plan) {
        // A missing path needs no rule.
        if let Ok(file) = PathFd::new(&path) {
            let rights = match path.is_dir() {
                true => rights,
                false => rights & AccessFs::from_file(NEWEST),
            };
            ruleset = ruleset
                .add_rule(PathBeneath::new(file, rights))
                .step(failed)?;
        }
    }
    let status = ruleset.restrict_self().step(failed)?;
    let enforced = status.ruleset != RulesetStatus::NotEnforced;
    match enforced || plan.method == Method::Namespaces {
        true => Ok(()),
        false => Err("this kernel has no Landlock").step(failed),
    }
}

/// Whether this kernel's Landlock protects files from truncation, and whether it can deny abstract sockets.
pub(super) fn offered() -> (bool, bool) {
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = strict()
        // Before this one, files that cannot be written could be emptied.
        .handle_access(AccessFs::from_all(ABI::V3))
        .and_then(Ruleset::create);
    let sockets = strict()
        .scope(Scope::AbstractUnixSocket)
        .and_then(Ruleset::create);
    (files.is_ok(), sockets.is_ok())
}

/// The paths of a plan and the access below them.
fn rules(plan: &Plan) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let has_own_root = plan.method == Method::Namespaces;
    let rules = plan.entries.iter().filter_map(|entry| match entry {
        Entry::View {
            source,
            path,
            access,
        } => {
            let seen = if has_own_root { path } else { source };
            Some((seen.clone(), rights(*access)))
        }
        Entry::OwnProcess { name } => {
            Some((Path::new("/proc/self").join(name), rights(Access::Read)))
        }
        Entry::File {
            path, or_machines, ..
        } => (has_own_root || *or_machines).then(|| (path.clone(), rights(Access::Read))),
        Entry::Scratch { path } => has_own_root.then(|| (path.clone(), rights(Access::Write))),
        Entry::Link { .. } => None,
    });
    rules.collect()
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    match access {
        Access::Read => read,
        Access::Execute => read | AccessFs::Execute,
        // Everything except executing written files, and devices.
        Access::Write => {
            AccessFs::from_all(NEWEST)
                & !(AccessFs::Execute
                    | AccessFs::MakeBlock
                    | AccessFs::MakeChar
                    | AccessFs::IoctlDev)
        }
        Access::Device => AccessFs::ReadFile | AccessFs::WriteFile,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use landlock::AccessFs;

    use super::{Method, Plan, rights, rules};
    use crate::confine::plan::{Access, Calls, Entry, Limits};

    fn plan(method: Method) -> Plan {
        let entry =
            |source: &str, path: &str, access| Entry::view(source.as_ref(), path.as_ref(), access);
        Plan {
            method,
            base: "/".into(),
            folder: "/".into(),
            entries: vec![
                entry("/data/w/code", "/code", Access::Read),
                entry("/data/w/tmp", "/tmp", Access::Write),
                entry("/opt/deno", "/bin/deno", Access::Execute),
            ],
            user: None,
            limits: Limits {
                data_bytes: 1,
                file_bytes: 1,
                open_files: 1,
                niceness: 0,
            },
            calls: Calls {
                ipv4: false,
                ipv6: false,
                unix_sockets: false,
                processes: false,
            },
        }
    }

    #[test]
    fn rules_are_about_paths_as_the_process_sees_them() {
        let paths = |method| -> Vec<PathBuf> {
            let rules = rules(&plan(method)).into_iter();
            rules.map(|(path, _)| path).collect()
        };
        let own = ["/code", "/tmp", "/bin/deno"].map(PathBuf::from);
        let machines = ["/data/w/code", "/data/w/tmp", "/opt/deno"].map(PathBuf::from);
        assert_eq!(paths(Method::Namespaces), own);
        assert_eq!(paths(Method::Landlock), machines);
    }

    #[test]
    fn what_can_be_written_cannot_be_run_and_the_other_way_round() {
        let (write, execute) = (rights(Access::Write), rights(Access::Execute));
        assert!(write.contains(AccessFs::WriteFile) && !write.contains(AccessFs::Execute));
        assert!(execute.contains(AccessFs::Execute) && !execute.contains(AccessFs::WriteFile));
        let read = rights(Access::Read);
        assert!(!read.intersects(AccessFs::WriteFile | AccessFs::Execute | AccessFs::RemoveFile));
        assert!(!write.intersects(AccessFs::MakeChar | AccessFs::MakeBlock));
    }
}
