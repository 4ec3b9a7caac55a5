//! The privileges of a process: its user, its capabilities, its limits.
//!
//! Responsible for dropping them. Not for files, which `root` and `landlock` restrict.

use std::fs;

use rustix::{
    fs::{Gid, Uid},
    process::{Resource, Rlimit, getrlimit, setpriority_process, setrlimit},
    thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
        set_thread_res_gid, set_thread_res_uid,
    },
};

use super::{
    failure::{Failure, Step},
    plan::{Limits, Plan},
};

/// When the machine is out of memory, the kernel ends a worker rather than the node or its database.
const OOM_SCORE_ADJUSTMENT: &str = "700";

/// Limits this process and the program that it becomes.
pub(super) fn limit(limits: &Limits) -> Result<(), Failure> {
    for (resource, limit) in [
        (Resource::Core, 0),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Data, limits.data_bytes),
    ] {
        // A stricter limit of the node is kept: raising it may be refused.
        let limit = getrlimit(resource)
            .maximum
            .map_or(limit, |maximum| limit.min(maximum));
        let both = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        setrlimit(resource, both).step(|| format!("limiting {resource:?}"))?;
    }
    // Neither is refused in practice: both only lower this process's priority.
    let _ = setpriority_process(None, limits.niceness);
    let _ = fs::write("/proc/self/oom_score_adj", OOM_SCORE_ADJUSTMENT);
    Ok(())
}

/// Changes to the plan's user, without any capability or a way to regain one.
pub(super) fn drop_all(plan: &Plan) -> Result<(), Failure> {
    set_no_new_privs(true).step(|| "giving up new privileges".into())?;
    let held = capabilities(None).step(|| "reading capabilities".into())?;
    if held.effective.contains(CapabilitySet::SETPCAP) {
        for capability in CapabilitySet::all().iter() {
            // The kernel need not know all of ours.
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    // A kernel without them has none to clear.
    let _ = clear_ambient_capability_set();
    become_user(plan, held.effective)?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).step(|| "giving up capabilities".into())
}

fn become_user(plan: &Plan, held: CapabilitySet) -> Result<(), Failure> {
    let Some(user) = plan.user else {
        return Ok(());
    };
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    if !held.contains(CapabilitySet::SETUID | CapabilitySet::SETGID) {
        return Err("the node may not change users").step(|| format!("becoming user {user}"));
    }
    set_thread_groups(&[]).step(|| "giving up groups".into())?;
    set_thread_res_gid(gid, gid, gid).step(|| format!("becoming group {user}"))?;
    set_thread_res_uid(uid, uid, uid).step(|| format!("becoming user {user}"))
}
