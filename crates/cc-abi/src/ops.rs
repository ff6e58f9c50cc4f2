//! Linux's `struct tcp_congestion_ops`.

use core::ffi::c_int;

use crate::{AckSample, LostSegment, RateSample, Sock};

/// Bytes of a congestion control algorithm's name, including the terminating zero.
pub const TCP_CA_NAME_MAX: usize = 16;

/// Flag of [`Ops::flags`]: the congestion control algorithm needs ECN on its connections.
pub const TCP_CONG_NEEDS_ECN: u32 = 1 << 1;

/// Flag of [`Ops::flags`]: it needs Accurate ECN (RFC 9768) on its connections. Linux since 7.0, and
/// 6.18's stable releases.
pub const TCP_CONG_NEEDS_ACCECN: u32 = 1 << 2;

/// Flag of [`Ops::flags`]: its packets are ECT(1), as those of an L4S sender (RFC 9331 §4.1). Since the
/// same releases; Linux's own only says so of packets before the connection is established.
pub const TCP_CONG_ECT_1_NEGOTIATION: u32 = 1 << 3;

/// Defines the table from one list of callbacks.
macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident: fn($($argument:ty),+) $(-> $value:ty)?,)+) => {
        /// The table of callbacks, each called as Linux calls it (`include/net/tcp.h`); `None` is C's
        /// null pointer. `ssthresh`, `undo_cwnd`, and one of `cong_avoid` and `cong_control` are required.
        ///
        /// The callbacks are `unsafe` because the host calls C through the same table; a safe
        /// `extern "C" fn` can be assigned to any of them.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct Ops {
            $($(#[$doc])* pub $name: Option<unsafe extern "C" fn($($argument),+) $(-> $value)?>,)+
            /// Flags: Linux's `TCP_CONG_*`.
            pub flags: u32,
            /// The name, padded with zeros.
            pub name: [u8; TCP_CA_NAME_MAX],
        }

        /// Names of the callbacks in the order of the table, which starts with one pointer for each.
        pub const CALLBACKS: [&str; [$(stringify!($name)),+].len()] = [$(stringify!($name)),+];

        impl Ops {
            /// Names of the callbacks that are set, in the order of the table.
            pub fn present(&self) -> impl Iterator<Item = &'static str> {
                let present = [$(self.$name.is_some()),+];
                CALLBACKS
                    .into_iter()
                    .zip(present)
                    .filter_map(|(name, present)| present.then_some(name))
            }
        }
    };
}

ops! {
    /// Returns the slow-start threshold after a loss, in packets.
    ssthresh: fn(&mut Sock) -> u32,
    /// Grows cwnd: `(sock, ack, acked)`, `acked` in packets.
    cong_avoid: fn(&mut Sock, u32, u32),
    /// Loss recovery is about to enter this state; a number of [`crate::CaState`].
    set_state: fn(&mut Sock, u8),
    /// What happened to cwnd or ECN: a number of [`crate::CaEvent`].
    cwnd_event: fn(&mut Sock, u32),
    /// The first packet leaves after none was in flight; if set, called instead of `cwnd_event`.
    cwnd_event_tx_start: fn(&mut Sock),
    /// An ACK arrives, `CA_ACK_*`.
    in_ack_event: fn(&mut Sock, u32),
    /// Packets were acknowledged, with their RTT.
    pkts_acked: fn(&mut Sock, &AckSample),
    /// Returns the smallest TSO burst, in packets.
    min_tso_segs: fn(&mut Sock) -> u32,
    /// Sets cwnd and pacing rate from a delivery-rate sample, instead of `cong_avoid`.
    cong_control: fn(&mut Sock, u32, c_int, &RateSample),
    /// Returns cwnd after a recovery that turned out to be spurious, in packets.
    undo_cwnd: fn(&mut Sock) -> u32,
    /// Returns how many cwnds the send buffer should hold.
    sndbuf_expand: fn(&mut Sock) -> u32,
    /// The handshake is complete.
    init: fn(&mut Sock),
    /// The socket is closed.
    release: fn(&mut Sock),
}

/// The table of a kernel module's source: Linux's, and what kernels patched for BBRv2 and BBRv3 add.
/// BPF programs cannot implement those.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ModuleOps {
    /// The kernel's own.
    pub ops: Ops,
    /// Returns the size of a TSO burst, in packets: `(sock, mss)`.
    pub tso_segs: Option<unsafe extern "C" fn(&mut Sock, u32) -> u32>,
    /// A segment was declared lost.
    pub skb_marked_lost: Option<unsafe extern "C" fn(&mut Sock, &LostSegment)>,
}

/// Names of the callbacks that only [`ModuleOps`] has.
pub const MODULE_CALLBACKS: [&str; 2] = ["tso_segs", "skb_marked_lost"];

impl ModuleOps {
    /// A table of only the kernel's own callbacks.
    pub const fn stock(ops: Ops) -> Self {
        Self {
            ops,
            tso_segs: None,
            skb_marked_lost: None,
        }
    }

    /// Names of the callbacks that are set.
    pub fn present(&self) -> impl Iterator<Item = &'static str> {
        let own = [self.tso_segs.is_some(), self.skb_marked_lost.is_some()];
        let own = MODULE_CALLBACKS.into_iter().zip(own);
        let own = own.filter_map(|(name, present)| present.then_some(name));
        self.ops.present().chain(own)
    }
}
