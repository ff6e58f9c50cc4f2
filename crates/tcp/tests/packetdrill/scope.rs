//! The scripts of google/packetdrill that concern this crate, and those of them that fail, with the reason.

/// What a script is for this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// It tests what this crate models, and must pass.
    In,
    /// It concerns this crate and must fail, for this reason.
    Fails(&'static str),
    /// It tests the socket layer rather than TCP, which the interpreter plays: it must pass, but
    /// says little about this crate.
    Beside,
    /// It tests something else that this crate has none of: the reason.
    Out(&'static str),
}

/// Folders and scripts that are out of scope.
const OUT: [(&str, &str); 17] = [
    ("blocking/", "blocking calls"),
    ("eor/", "MSG_EOR"),
    ("epoll/", "epoll"),
    ("fastopen/", "Fast Open"),
    ("gro/", "receive offload"),
    ("md5/", "MD5 signatures"),
    ("mtu_probe/", "MTU probing"),
    ("notsent_lowat/", "poll"),
    ("splice/", "splice"),
    ("syscall_bad_arg/", "bad arguments of calls"),
    ("tcp_info/tcp-info-sndbuf-limited", "blocking calls"),
    ("timestamping/", "SO_TIMESTAMPING"),
    ("ts_recent/invalid_ack", "segments that are not acceptable"),
    ("ts_recent/reset_tsval", "resets"),
    ("user_timeout/", "TCP_USER_TIMEOUT"),
    ("validate/", "segments that are not acceptable"),
    ("zerocopy/", "zero copy"),
];

/// Folders of the socket layer.
const BESIDE: [&str; 4] = ["inq/", "ioctl/", "mss/", "sendfile/"];

/// Scripts in scope that fail.
const FAILS: [(&str, &str); 6] = [
    (
        "cubic/cubic-bulk-166k",
        "Linux 7.1 fails it too, with the same cwnd of 36 (the script: 40)",
    ),
    (
        "cubic/cubic-bulk-166k-idle-restart",
        "Linux 7.1 fails it too, with the same cwnd of 36 (the script: 40)",
    ),
    (
        "cubic/cubic-rack-reo-timeout-retrans-failed-incoming-data",
        "the host's own queue drops a retransmission: queues belong to the network here",
    ),
    (
        "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700",
        "Linux 7.1 fails it too, with the same cwnd of 5 (the script: 4)",
    ),
    (
        "fast_retransmit/fr-4pkt-fack-last-mss",
        "RACK's timer at HZ = 250, 40 ms; here at 1000, 27 ms, as sack/sack-shift-sacked-7-* has it",
    ),
    (
        "shutdown/shutdown-rdwr-write-queue-close",
        "a FIN beyond cwnd, which Linux does not send since 6.10; 7.1 fails it too",
    ),
];

/// What `script` is for this crate; a path below `gtests/net/tcp` without its suffix.
pub(crate) fn of(script: &str) -> Scope {
    if let Some(&(_, reason)) = OUT.iter().find(|own| script.starts_with(own.0)) {
        return Scope::Out(reason);
    }
    if BESIDE.iter().any(|folder| script.starts_with(folder)) {
        return Scope::Beside;
    }
    match FAILS.iter().find(|own| own.0 == script) {
        Some(&(_, reason)) => Scope::Fails(reason),
        None => Scope::In,
    }
}

/// What the lists name that is not among `scripts`.
pub(crate) fn unknown(scripts: &[String]) -> Vec<&'static str> {
    let is_known = |name: &&str| scripts.iter().any(|script| script.starts_with(name));
    let named = OUT.iter().chain(&FAILS).map(|own| own.0).chain(BESIDE);
    named.filter(|name| !is_known(name)).collect()
}
