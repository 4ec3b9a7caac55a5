//! System calls that no worker needs, refused by the kernel.
//!
//! A list of what is refused, not of what is allowed: a later Deno may need calls that this one does
//! not. It backs up Deno's own permissions, and closes what those cannot express: addresses of IPv6.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) use linux::restrict_this_thread;

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(super) fn restrict_this_thread(_ipv6_off: bool) -> Result<(), String> {
    Err("this system has no filter for system calls that we know".into())
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod linux {
    use std::collections::BTreeMap;

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule,
    };

    /// Other processes, the kernel's insides, mounts and namespaces; and `io_uring`, whose operations
    /// are not seen by a filter.
    const REFUSED: &[libc::c_long] = &[
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
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
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_reboot,
    ];

    /// Restricts the calling thread and every process that it starts, for ever. Also gives up gaining
    /// privileges by running other programs.
    pub(in crate::sandbox) fn restrict_this_thread(ipv6_off: bool) -> Result<(), String> {
        let failed = |error: seccompiler::BackendError| error.to_string();
        let arch = std::env::consts::ARCH.try_into().map_err(failed)?;
        // The kernel answers in the words of a system without the call, or without the protocol.
        let refused = filter(rules(), libc::EPERM);
        let ipv6 = filter(ipv6_rules().map_err(failed)?, libc::EAFNOSUPPORT);
        for filter in [Some(refused), ipv6_off.then_some(ipv6)]
            .into_iter()
            .flatten()
        {
            let filter = SeccompFilter::new(filter.0, SeccompAction::Allow, filter.1, arch)
                .map_err(failed)?;
            let program = BpfProgram::try_from(filter).map_err(failed)?;
            seccompiler::apply_filter(&program).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    fn filter(rules: Rules, errno: libc::c_int) -> (Rules, SeccompAction) {
        (rules, SeccompAction::Errno(errno.unsigned_abs()))
    }

    fn rules() -> Rules {
        REFUSED.iter().map(|&call| (call, Vec::new())).collect()
    }

    fn ipv6_rules() -> Result<Rules, seccompiler::BackendError> {
        let family = libc::AF_INET6.unsigned_abs().into();
        let is_ipv6 = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, family)?;
        Ok(Rules::from([(
            libc::SYS_socket,
            vec![SeccompRule::new(vec![is_ipv6])?],
        )]))
    }
}
