//! System calls that no process needs, refused by the kernel.
//!
//! A deny list, not an allow list: a later Deno may need further calls. It backs up Deno's own permissions, and
//! covers what those cannot express: families of sockets.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use filters::restrict;

/// Whether there are filters for this architecture.
pub(crate) const ARE_FILTERED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn restrict(_calls: super::plan::Calls) -> Result<(), String> {
    Ok(())
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod filters {
    use std::collections::BTreeMap;

    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, sock_filter,
    };

    use super::super::plan::Calls;

    /// Other processes, the kernel's insides, mounts and namespaces; `io_uring`, whose operations are
    /// not seen by a filter; and memory, queues and semaphores that the whole machine shares.
    const REFUSED: &[libc::c_long] = &[
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_move_pages,
        libc::SYS_migrate_pages,
        libc::SYS_kcmp,
        libc::SYS_pidfd_getfd,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fspick,
        libc::SYS_mount_setattr,
        libc::SYS_open_by_handle_at,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_reboot,
        libc::SYS_acct,
        libc::SYS_syslog,
        libc::SYS_quotactl,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_adjtimex,
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
        libc::SYS_personality,
        libc::SYS_shmget,
        libc::SYS_shmat,
        libc::SYS_shmctl,
        libc::SYS_semget,
        libc::SYS_semop,
        libc::SYS_semtimedop,
        libc::SYS_semctl,
        libc::SYS_msgget,
        libc::SYS_msgsnd,
        libc::SYS_msgrcv,
        libc::SYS_msgctl,
        libc::SYS_mq_open,
        libc::SYS_mq_unlink,
    ];
    /// Ways to send signals that no program here uses.
    const REFUSED_WITHOUT_PROCESSES: &[libc::c_long] = &[
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_send_signal,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_vfork,
    ];
    const NEW_NAMESPACES: &[libc::c_int] = &[
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];

    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    /// Restricts this process and the program that it becomes, permanently.
    pub(in crate::confine) fn restrict(calls: Calls) -> Result<(), String> {
        let failed = |error: BackendError| error.to_string();
        let arch = std::env::consts::ARCH.try_into().map_err(failed)?;
        // The error is that of a system without the call, or without the protocol.
        let filters = [
            (refused(calls).map_err(failed)?, libc::EPERM),
            (families(calls).map_err(failed)?, libc::EAFNOSUPPORT),
            // A filter cannot see its flags. Programs fall back to the call whose flags it sees.
            (Rules::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS),
        ];
        for (rules, errno) in filters {
            let action = SeccompAction::Errno(errno.unsigned_abs());
            let filter =
                SeccompFilter::new(rules, SeccompAction::Allow, action, arch).map_err(failed)?;
            let program = BpfProgram::try_from(filter).map_err(failed)?;
            seccompiler::apply_filter(&program).map_err(|error| error.to_string())?;
        }
        #[cfg(target_arch = "x86_64")]
        seccompiler::apply_filter(&refuse_x32()).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The calls of the x32 ABI have numbers of their own, which the other filters do not know.
    #[cfg(target_arch = "x86_64")]
    fn refuse_x32() -> [sock_filter; 4] {
        const LOAD_NUMBER: u16 = 0x20;
        const JUMP_IF_AT_LEAST: u16 = 0x35;
        const RETURN: u16 = 0x06;
        const X32: u32 = 0x4000_0000;
        let step = |code, jf, k| sock_filter { code, jt: 0, jf, k };
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
        [
            step(LOAD_NUMBER, 0, 0),
            step(JUMP_IF_AT_LEAST, 1, X32),
            step(RETURN, 0, refused),
            step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        ]
    }

    fn refused(calls: Calls) -> Result<Rules, BackendError> {
        let mut rules: Rules = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
        let mut clone = Vec::new();
        for &flag in NEW_NAMESPACES {
            clone.push(rule([flag_is(flag, true)?])?);
        }
        if !calls.processes {
            rules.extend(
                REFUSED_WITHOUT_PROCESSES
                    .iter()
                    .map(|&call| (call, Vec::new())),
            );
            clone.push(rule([flag_is(libc::CLONE_THREAD, false)?])?);
            let own = std::process::id().into();
            let other = || rule([argument(SeccompCmpOp::Ne, own)?]);
            rules.insert(libc::SYS_kill, vec![other()?]);
            rules.insert(libc::SYS_tgkill, vec![other()?]);
        }
        rules.insert(libc::SYS_clone, clone);
        Ok(rules)
    }

    /// Refuses every family of sockets except those that the process may use.
    fn families(calls: Calls) -> Result<Rules, BackendError> {
        let allowed = [
            (calls.ipv4, libc::AF_INET),
            (calls.ipv6, libc::AF_INET6),
            (calls.unix_sockets, libc::AF_UNIX),
        ];
        let allowed = allowed.into_iter().filter(|(is_allowed, _)| *is_allowed);
        let others =
            allowed.map(|(_, family)| argument(SeccompCmpOp::Ne, family.unsigned_abs().into()));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        let others = match others.is_empty() {
            true => Vec::new(),
            false => vec![SeccompRule::new(others)?],
        };
        Ok(Rules::from([(libc::SYS_socket, others)]))
    }

    fn rule<const N: usize>(
        conditions: [SeccompCondition; N],
    ) -> Result<SeccompRule, BackendError> {
        SeccompRule::new(conditions.to_vec())
    }

    fn argument(operation: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, operation, value)
    }

    fn flag_is(flag: libc::c_int, set: bool) -> Result<SeccompCondition, BackendError> {
        let mask = u64::from(flag.cast_unsigned());
        argument(SeccompCmpOp::MaskedEq(mask), if set { mask } else { 0 })
    }
}
