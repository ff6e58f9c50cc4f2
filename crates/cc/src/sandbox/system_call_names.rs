//! Names of system calls, for messages about those that foreign code must not make.

/// Numbers with the names of their constants.
macro_rules! named {
    ($($constant:ident)*) => { [$((libc::$constant, stringify!($constant))),*] };
}

/// Calls that foreign code might try.
const NAMES: &[(libc::c_long, &str)] = &named! {
    SYS_accept4 SYS_add_key SYS_bind SYS_bpf SYS_chroot SYS_clone SYS_clone3 SYS_connect
    SYS_execve SYS_execveat SYS_fchmod SYS_fchmodat SYS_fchownat SYS_fcntl SYS_init_module
    SYS_io_uring_setup SYS_ioctl SYS_keyctl SYS_kill SYS_linkat SYS_listen SYS_memfd_create
    SYS_mkdirat SYS_mknodat SYS_mmap SYS_mount SYS_mprotect SYS_open_by_handle_at SYS_openat
    SYS_openat2 SYS_perf_event_open SYS_personality SYS_pidfd_getfd SYS_pidfd_open
    SYS_pidfd_send_signal SYS_pivot_root SYS_pkey_mprotect SYS_prctl SYS_prlimit64
    SYS_process_vm_readv SYS_process_vm_writev SYS_ptrace SYS_quotactl SYS_reboot SYS_renameat
    SYS_renameat2 SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_seccomp SYS_sendto SYS_setns
    SYS_setpgid SYS_setpriority SYS_setresgid SYS_setresuid SYS_setrlimit SYS_setsid SYS_setuid
    SYS_shmget SYS_socket SYS_socketpair SYS_symlinkat SYS_tgkill SYS_tkill SYS_truncate
    SYS_umount2 SYS_unlinkat SYS_unshare SYS_userfaultfd SYS_utimensat SYS_wait4 SYS_waitid
};
/// Calls that newer architectures no longer have.
#[cfg(target_arch = "x86_64")]
const OLD_NAMES: &[(libc::c_long, &str)] = &named! {
    SYS_chmod SYS_chown SYS_creat SYS_fork SYS_link SYS_mkdir SYS_mknod SYS_open SYS_rename
    SYS_rmdir SYS_symlink SYS_unlink SYS_vfork
};
#[cfg(not(target_arch = "x86_64"))]
const OLD_NAMES: &[(libc::c_long, &str)] = &[];

/// The name of a system call, `socket`; `None` for an unusual one. A signal handler may ask.
pub fn name_of_system_call(number: i64) -> Option<&'static str> {
    let mut names = NAMES.iter().chain(OLD_NAMES);
    let (_, constant) = names.find(|(known, _)| *known == number)?;
    constant.strip_prefix("SYS_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_calls_have_names() {
        assert_eq!(name_of_system_call(libc::SYS_socket), Some("socket"));
        assert_eq!(name_of_system_call(libc::SYS_clone), Some("clone"));
        assert_eq!(name_of_system_call(-1), None);
    }
}
