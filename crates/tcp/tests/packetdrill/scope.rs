//! Google's and Linux's scripts: which concern this crate, and which of them fail, with the reason.

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

/// A collection of scripts that is not part of this project.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    /// The variable that says where it is.
    pub(crate) variable: &'static str,
    /// What that has to be, for people.
    pub(crate) place: &'static str,
    /// Where the scripts are in it.
    pub(crate) folder: &'static str,
    /// What this TCP does not model: beginnings of names, and the reason.
    out: &'static [(&'static str, &'static str)],
    /// Beginnings of names of what tests the socket layer.
    beside: &'static [&'static str],
    /// Scripts in scope that fail, and why.
    fails: &'static [(&'static str, &'static str)],
}

/// All of them.
pub(crate) const SUITES: [Suite; 2] = [GOOGLE, SELFTESTS];

const GOOGLE: Suite = Suite {
    name: "google",
    variable: "DUMBBELL_PACKETDRILL",
    place: "a clone of google/packetdrill",
    folder: "gtests/net/tcp",
    out: &[
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
    ],
    beside: &["inq/", "ioctl/", "mss/", "sendfile/"],
    fails: &[
        (
            "cubic/cubic-bulk-166k",
            "Linux fails it too, with the same cwnd of 36 (the script: 40)",
        ),
        (
            "cubic/cubic-bulk-166k-idle-restart",
            "Linux fails it too, with the same cwnd of 36 (the script: 40)",
        ),
        (
            "cubic/cubic-rack-reo-timeout-retrans-failed-incoming-data",
            "the host's own queue drops a retransmission: queues belong to the network here",
        ),
        (
            "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700",
            "Linux fails it too, with the same cwnd of 5 (the script: 4)",
        ),
        (
            "fast_retransmit/fr-4pkt-fack-last-mss",
            "Linux with 1000 ticks a second fails it too, with the same 28.7 ms of RACK's timer (the script: 40 ms)",
        ),
        (
            "ioctl/ioctl-siocinq-fin",
            "Linux fails it too: the ACK of the FIN leaves after the same 40 ms (the script: at once)",
        ),
        (
            "shutdown/shutdown-rdwr-write-queue-close",
            "Linux fails it too: the FIN waits for a loss probe, to the same 43.7 ms (the script: 30 ms)",
        ),
    ],
};

/// Linux's own, which are Google's and more.
const SELFTESTS: Suite = Suite {
    name: "selftests",
    variable: "DUMBBELL_LINUX",
    place: "a tree of Linux",
    folder: "tools/testing/selftests/net/packetdrill",
    out: &[
        (
            "tcp_accecn_synack_ce_updates_delivered_ce",
            "`tcp_ecn_fallback`",
        ),
        ("tcp_advmss_pmtu_", "ICMP and the path's MTU"),
        ("tcp_blocking_", "blocking calls"),
        ("tcp_eor_", "MSG_EOR"),
        ("tcp_fastopen_", "Fast Open"),
        ("tcp_md5_", "MD5 signatures"),
        ("tcp_ooo-before-and-after-accept", "the memory of a socket"),
        ("tcp_ooo_rcv_mss", "segments larger than the MSS"),
        ("tcp_rcv_", "the memory of a receive buffer"),
        ("tcp_rfc5961_", "segments that are not acceptable"),
        ("tcp_rto_synack_rto_max", "Fast Open"),
        ("tcp_splice_", "splice"),
        ("tcp_syncookies_", "SYN cookies"),
        ("tcp_syscall_bad_arg_", "bad arguments of calls"),
        ("tcp_tcp_info_tcp-info-sndbuf-limited", "blocking calls"),
        ("tcp_timestamping_", "SO_TIMESTAMPING"),
        (
            "tcp_ts_recent_invalid_ack",
            "segments that are not acceptable",
        ),
        ("tcp_ts_recent_reset_tsval", "resets"),
        ("tcp_urg_ptr_", "urgent data"),
        ("tcp_user_timeout_", "TCP_USER_TIMEOUT"),
        ("tcp_validate_", "segments that are not acceptable"),
        ("tcp_zerocopy_", "zero copy"),
    ],
    beside: &["tcp_inq_", "tcp_sendfile_"],
    fails: &[],
};

impl Suite {
    /// What `script` is for this crate; a path below the folder, without its suffix.
    pub(crate) fn scope(&self, script: &str) -> Scope {
        if let Some(&(_, reason)) = self.out.iter().find(|own| script.starts_with(own.0)) {
            return Scope::Out(reason);
        }
        if let Some(&(_, reason)) = self.fails.iter().find(|own| own.0 == script) {
            return Scope::Fails(reason);
        }
        match self.beside.iter().any(|folder| script.starts_with(folder)) {
            true => Scope::Beside,
            false => Scope::In,
        }
    }

    /// What the lists name that is not among `scripts`.
    pub(crate) fn unknown(&self, scripts: &[String]) -> Vec<&'static str> {
        let is_known = |name: &&str| scripts.iter().any(|script| script.starts_with(name));
        let named = self.out.iter().chain(self.fails).map(|own| own.0);
        let named = named.chain(self.beside.iter().copied());
        named.filter(|name| !is_known(name)).collect()
    }
}
