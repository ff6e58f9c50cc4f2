//! `struct tcp_congestion_ops`.

use core::ffi::c_int;

use crate::{AckSample, RateSample, Sock};

/// The table of callbacks, each as Linux calls it (`include/net/tcp.h`); `None` where there is none.
/// `ssthresh`, `undo_cwnd`, and `cong_avoid` or `cong_control` must be there.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ops {
    /// The slow start threshold after a loss, packets.
    pub ssthresh: Option<extern "C" fn(&mut Sock) -> u32>,
    /// Grows cwnd: `(sock, ack, acked)`, `acked` in packets.
    pub cong_avoid: Option<extern "C" fn(&mut Sock, u32, u32)>,
    /// The state of loss recovery is about to be this; a number of [`crate::CaState`].
    pub set_state: Option<extern "C" fn(&mut Sock, u8)>,
    /// What happened to cwnd or ECN: a number of [`crate::CaEvent`].
    pub cwnd_event: Option<extern "C" fn(&mut Sock, u32)>,
    /// The first packet leaves after none was in flight; where there is one, `cwnd_event` is not told.
    pub cwnd_event_tx_start: Option<extern "C" fn(&mut Sock)>,
    /// An ACK arrives, `CA_ACK_*`.
    pub in_ack_event: Option<extern "C" fn(&mut Sock, u32)>,
    /// Packets were acknowledged, with their RTT.
    pub pkts_acked: Option<extern "C" fn(&mut Sock, &AckSample)>,
    /// The smallest TSO burst, packets.
    pub min_tso_segs: Option<extern "C" fn(&mut Sock) -> u32>,
    /// Sets cwnd and pacing rate from a delivery-rate sample, instead of `cong_avoid`.
    pub cong_control: Option<extern "C" fn(&mut Sock, u32, c_int, &RateSample)>,
    /// cwnd after a recovery that turned out to be spurious, packets.
    pub undo_cwnd: Option<extern "C" fn(&mut Sock) -> u32>,
    /// How many cwnds the send buffer should hold.
    pub sndbuf_expand: Option<extern "C" fn(&mut Sock) -> u32>,
    /// The handshake is done.
    pub init: Option<extern "C" fn(&mut Sock)>,
    /// The socket is closed.
    pub release: Option<extern "C" fn(&mut Sock)>,
    /// `TCP_CONG_*`.
    pub flags: u32,
    /// Ends in zeros.
    pub name: [u8; 16],
}

impl Ops {
    /// A table without callbacks.
    pub const EMPTY: Self = Self {
        ssthresh: None,
        cong_avoid: None,
        set_state: None,
        cwnd_event: None,
        cwnd_event_tx_start: None,
        in_ack_event: None,
        pkts_acked: None,
        min_tso_segs: None,
        cong_control: None,
        undo_cwnd: None,
        sndbuf_expand: None,
        init: None,
        release: None,
        flags: 0,
        name: [0; 16],
    };

    /// A name as the table holds it.
    ///
    /// # Panics
    ///
    /// When compiling: the name is empty or longer than 15 bytes.
    pub const fn named(name: &str) -> [u8; 16] {
        assert!(
            !name.is_empty() && name.len() < 16,
            "a name has 1 to 15 letters"
        );
        let mut bytes = [0; 16];
        let mut i = 0;
        while i < name.len() {
            bytes[i] = name.as_bytes()[i];
            i += 1;
        }
        bytes
    }
}
