//! seccomp: which system calls a process can make.

use std::collections::BTreeMap;
use std::io;

use crate::sandbox::files::{FIRST_WITH_SIGNALS, landlock_version};
use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Is, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

/// What happens to a forbidden call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forbidden {
    /// It raises SIGSYS, which the crash handlers report with the place.
    Traps,
    /// It fails with EPERM: Python raises PermissionError.
    Fails,
}

impl From<Forbidden> for SeccompAction {
    fn from(forbidden: Forbidden) -> Self {
        match forbidden {
            Forbidden::Traps => Self::Trap,
            Forbidden::Fails => Self::Errno(libc::EPERM as u32),
        }
    }
}

/// A program for the kernel.
#[derive(Debug)]
pub(crate) struct Filter(BpfProgram);

impl Filter {
    /// Binds the calling thread, which must have `no_new_privs`, and all that it starts. Only makes
    /// a system call.
    pub(crate) fn apply(&self) -> io::Result<()> {
        self.apply_with(0)
    }

    /// Binds all threads of this process.
    pub(crate) fn apply_to_all_threads(&self) -> io::Result<()> {
        self.apply_with(libc::SECCOMP_FILTER_FLAG_TSYNC)
    }

    fn apply_with(&self, flags: libc::c_ulong) -> io::Result<()> {
        let program = libc::sock_fprog {
            len: self.0.len() as u16,
            filter: self.0.as_ptr().cast_mut().cast(),
        };
        // SAFETY: the kernel reads `len` instructions from `filter`; both crates declare them as
        // the kernel does.
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const program,
            )
        };
        match result {
            0 => Ok(()),
            1.. => Err(io::Error::other("a thread has another filter")),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Whether the kernel has seccomp filters, and this architecture a library for them.
pub(crate) fn has_seccomp() -> bool {
    const GET_ACTION_AVAIL: libc::c_uint = 2;
    let trap = libc::SECCOMP_RET_TRAP;
    // SAFETY: the kernel reads a u32.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0, &raw const trap) };
    result == 0 && architecture().is_some()
}

fn architecture() -> Option<TargetArch> {
    std::env::consts::ARCH.try_into().ok()
}

/// Calls and the arguments that count; with any if there are no rules.
type Calls = BTreeMap<i64, Vec<SeccompRule>>;

fn any_arguments(calls: &[c_long]) -> Calls {
    calls.iter().map(|&call| (call, Vec::new())).collect()
}

/// An argument of the system call.
fn argument(index: u8, length: Length, is: Is, value: u64) -> SeccompCondition {
    SeccompCondition::new(index, length, is, value).expect("a call has six arguments")
}

fn all(conditions: Vec<SeccompCondition>) -> SeccompRule {
    SeccompRule::new(conditions).expect("there are conditions")
}

fn one_of(index: u8, values: &[u64]) -> Vec<SeccompRule> {
    let equal = |&value| all(vec![argument(index, Length::Dword, Is::Eq, value)]);
    values.iter().map(equal).collect()
}

/// `None` if there is no seccomp.
fn filter(calls: Calls, matched: SeccompAction, others: SeccompAction) -> Option<Filter> {
    if !has_seccomp() {
        return None;
    }
    let filter = SeccompFilter::new(calls, others, matched, architecture()?);
    let program = filter.and_then(BpfProgram::try_from);
    Some(Filter(program.expect("constant filters are valid")))
}

/// `clone3` hides its flags from filters; the C library then uses `clone`.
fn no_clone3() -> Option<Filter> {
    filter(
        any_arguments(&[libc::SYS_clone3]),
        SeccompAction::Errno(libc::ENOSYS as u32),
        SeccompAction::Allow,
    )
}

/// Calls of the simulator, of Python's interpreter and of their libraries that concern no other
/// process.
const OWN: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_clone3, // see `no_clone3`
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_getcpu,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpeername,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_getrlimit,
    libc::SYS_getrusage,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_memfd_create,
    libc::SYS_mincore,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pselect6,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sendmsg, // on sockets that it was given; it cannot make any
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_shutdown,
    libc::SYS_sigaltstack,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_uname,
    libc::SYS_write,
    libc::SYS_writev,
];
/// The same calls as newer architectures do not have them.
#[cfg(target_arch = "x86_64")]
const OWN_OLD: &[c_long] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_dup2,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_lstat,
    libc::SYS_open,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_select,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OWN_OLD: &[c_long] = &[];

/// Commands of `fcntl` that cannot make the kernel signal another process.
const FCNTL: [i32; 9] = [
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_ADD_SEALS,
    libc::F_GET_SEALS,
];
/// Requests of `ioctl` that only ask, or concern the descriptor.
const IOCTL: [u64; 5] = [
    libc::TCGETS,
    libc::TIOCGWINSZ,
    libc::FIOCLEX,
    libc::FIONCLEX,
    libc::FIONBIO,
];
/// Naming threads and memory.
const PRCTL: [u64; 3] = [
    libc::PR_SET_NAME as u64,
    libc::PR_GET_NAME as u64,
    libc::PR_SET_VMA as u64,
];

/// What a process that runs congestion control algorithms can do: nothing to others. It is the process `own`.
pub(crate) fn of_a_run(own: u32, forbidden: Forbidden) -> Vec<Filter> {
    let calls = calls_of_a_run(own);
    let allowed = filter(calls, SeccompAction::Allow, forbidden.into());
    no_clone3().into_iter().chain(allowed).collect()
}

fn calls_of_a_run(own: u32) -> Calls {
    let mut calls = any_arguments(OWN);
    calls.extend(any_arguments(OWN_OLD));
    let is = |index, value| argument(index, Length::Qword, Is::Eq, value);
    let thread = libc::CLONE_THREAD as u64;
    let makes_a_thread = argument(0, Length::Qword, Is::MaskedEq(thread), thread);
    calls.extend([
        (libc::SYS_clone, vec![all(vec![makes_a_thread])]),
        (
            libc::SYS_fcntl,
            one_of(1, &FCNTL.map(|command| command as u64)),
        ),
        (libc::SYS_ioctl, one_of(1, &IOCTL)),
        (libc::SYS_prctl, one_of(0, &PRCTL)),
        // Asking for its own limits.
        (libc::SYS_prlimit64, vec![all(vec![is(0, 0), is(2, 0)])]),
        // Forbidding itself more: `seal`.
        (
            libc::SYS_seccomp,
            vec![all(vec![
                is(0, u64::from(libc::SECCOMP_SET_MODE_FILTER)),
                is(1, libc::SECCOMP_FILTER_FLAG_TSYNC),
            ])],
        ),
        // To the other end, not to an address.
        (libc::SYS_sendto, vec![all(vec![is(4, 0)])]),
        // abort() signals the thread itself.
        (libc::SYS_tgkill, one_of(0, &[u64::from(own)])),
    ]);
    calls
}

/// What is also forbidden once all congestion control algorithms of a run have been loaded: to open files, to
/// load code and to start threads. Python still imports modules, so there only threads are.
pub(crate) fn once_loaded(forbidden: Forbidden) -> Option<Filter> {
    let mut calls = any_arguments(&[libc::SYS_clone]);
    if forbidden == Forbidden::Traps {
        calls.extend(any_arguments(&[libc::SYS_openat]));
        #[cfg(target_arch = "x86_64")]
        calls.extend(any_arguments(&[libc::SYS_open]));
        let executable = libc::PROT_EXEC as u64;
        let maps_code = || {
            let is = Is::MaskedEq(executable);
            vec![all(vec![argument(2, Length::Dword, is, executable)])]
        };
        calls.extend([
            (libc::SYS_mmap, maps_code()),
            (libc::SYS_mprotect, maps_code()),
        ]);
    }
    filter(calls, forbidden.into(), SeccompAction::Allow)
}

/// What a program made of foreign code can do, with the sanitizers' needs: as a run, and to begin.
/// Landlock restricts what it can execute to itself. It cannot know its number before, so it must be
/// bounded by Landlock to signal itself.
pub(crate) fn of_a_program() -> Vec<Filter> {
    let mut calls = calls_of_a_run(0);
    calls.extend(any_arguments(&[
        libc::SYS_execve,
        libc::SYS_getpgid,
        libc::SYS_kill,
        libc::SYS_personality,
        libc::SYS_setitimer,
    ]));
    #[cfg(target_arch = "x86_64")]
    calls.extend(any_arguments(&[libc::SYS_alarm, libc::SYS_getpgrp]));
    // Its own limits.
    let own = argument(0, Length::Qword, Is::Eq, 0);
    calls.insert(libc::SYS_prlimit64, vec![all(vec![own])]);
    for signal in [libc::SYS_kill, libc::SYS_tgkill] {
        calls.remove(&signal);
    }
    if has_signal_scope() {
        calls.extend(any_arguments(&[libc::SYS_kill, libc::SYS_tgkill]));
    }
    let allowed = filter(calls, SeccompAction::Allow, Forbidden::Fails.into());
    no_clone3().into_iter().chain(allowed).collect()
}

/// What a compiler does not need, among it all that reaches other processes and the network.
const NOT_FOR_COMPILERS: &[c_long] = &[
    libc::SYS_accept4,
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bind,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_connect,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_kill,
    libc::SYS_listen,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_mq_open,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_semget,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    libc::SYS_settimeofday,
    libc::SYS_shmget,
    libc::SYS_socket,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_tkill,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];
/// Flags of `clone` that make namespaces.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// What a compiler can do: start programs, but neither leave its process group nor reach others.
pub(crate) fn of_a_compiler() -> Vec<Filter> {
    let mut calls = any_arguments(NOT_FOR_COMPILERS);
    let makes_namespace = |flag: i32| {
        let flag = flag as u32 as u64;
        all(vec![argument(0, Length::Qword, Is::MaskedEq(flag), flag)])
    };
    calls.insert(
        libc::SYS_clone,
        NAMESPACES.into_iter().map(makes_namespace).collect(),
    );
    // abort() needs it; without it, it ends by an invalid instruction.
    if !has_signal_scope() {
        calls.extend(any_arguments(&[libc::SYS_tgkill]));
    }
    let forbidden = filter(calls, Forbidden::Fails.into(), SeccompAction::Allow);
    let filters = no_clone3().into_iter().chain(forbidden);
    filters.chain(no_second_interface()).collect()
}

/// A filter that lists what is forbidden must also forbid the same calls by their numbers of x32,
/// which the library does not know.
fn no_second_interface() -> Option<Filter> {
    if !has_seccomp() || cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    const FIRST_OF_X32: u32 = 0x4000_0000;
    let instruction = |code: u32, on_true: u8, on_false: u8, value: u32| seccompiler::sock_filter {
        code: code as u16,
        jt: on_true,
        jf: on_false,
        k: value,
    };
    // The number of the call is at the start of what a filter can load.
    Some(Filter(vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(
            libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K,
            0,
            1,
            FIRST_OF_X32,
        ),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
        ),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]))
}

/// Whether Landlock confines signals.
fn has_signal_scope() -> bool {
    landlock_version() >= FIRST_WITH_SIGNALS
}
