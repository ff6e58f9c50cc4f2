//! Makes a thread punctual: real-time priority and exact timers.

/// Priorities among real-time threads: the lowest is above every ordinary thread already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// The sending and receiving applications: without it other processes could starve them, and
    /// flows would be limited by something else than their algorithm.
    Application = 1,
    /// The sampler, which must not delay packets.
    Sampler = 2,
    /// The threads of the relay.
    Relay = 3,
}

/// Makes the calling thread as punctual as this user may; returns whether it has real-time
/// priority.
pub(crate) fn make_realtime(priority: Priority) -> bool {
    // The kernel may not move timers of this thread to save wake-ups. Real-time threads have no
    // slack anyway; without privilege only this is possible. A failure costs 50 µs, which lateness
    // shows. SAFETY: PR_SET_TIMERSLACK takes its argument by value.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
    // SAFETY: `sched_param` is plain data, for which all zeroes is a valid value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority as libc::c_int;
    // Children of the process must not inherit the priority.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: 0 is the calling thread; the parameters outlive the call.
    unsafe { libc::sched_setscheduler(0, policy, &parameters) == 0 }
}
