//! The fields of a socket that an algorithm sees, and where a guest's kernel has them.

use std::mem::offset_of;

use dumbbell_cc::Sock;
use dumbbell_scenario::address_plan::host_addresses;

/// A field of the kernel's socket.
#[derive(Clone, Copy, Debug)]
pub struct KernelField<'a> {
    /// Its name in `Sock`.
    pub name: &'a str,
    /// From the socket, bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub bytes: usize,
}

/// A field in both.
#[derive(Clone, Copy, Debug)]
struct Shared {
    ours: usize,
    our_bytes: usize,
    theirs: usize,
    their_bytes: usize,
    is_written: bool,
}

/// The fields of a kernel's sockets.
#[derive(Debug)]
pub(super) struct SocketFields(Vec<Shared>);

/// What a [`Sock`] has of the field, and whether an algorithm may write it (`net/ipv4/bpf_tcp_ca.c`).
struct Ours {
    name: &'static str,
    offset: usize,
    bytes: usize,
    is_written: bool,
}

macro_rules! ours {
    (written: $($written:ident),+; read: $($read:ident),+ $(,)?) => {
        const OURS: &[Ours] = &[
            $(Ours { name: stringify!($written), offset: offset_of!(Sock, $written), bytes: bytes_of(|sock| &sock.$written), is_written: true },)+
            $(Ours { name: stringify!($read), offset: offset_of!(Sock, $read), bytes: bytes_of(|sock| &sock.$read), is_written: false },)+
        ];
    };
}

const fn bytes_of<T>(_: fn(&Sock) -> &T) -> usize {
    size_of::<T>()
}

ours! {
    written: sk_pacing_rate, sk_pacing_status, icsk_ack_pending, snd_cwnd, snd_cwnd_cnt, snd_ssthresh, app_limited, ecn_flags;
    read: sk_max_pacing_rate, sk_gso_max_size, sk_gso_max_segs, sk_pacing_shift, icsk_retransmits, icsk_backoff,
    icsk_ack_rcv_mss, bytes_acked, bytes_sent, tcp_mstamp, tcp_clock_cache, tcp_wstamp_ns, delivered_mstamp,
    first_tx_mstamp, rtt_min, srtt_us, mdev_us, rttvar_us, mss_cache, advmss, snd_una, snd_nxt, write_seq, high_seq,
    snd_wnd, snd_cwnd_clamp, snd_cwnd_used, prior_cwnd, prior_ssthresh, packets_out, retrans_out, sacked_out, lost_out,
    max_packets_out, cwnd_usage_seq, prr_delivered, prr_out, delivered, delivered_ce, lost, rate_delivered,
    rate_interval_us, total_retrans, data_segs_out, reordering, undo_marker, undo_retrans, lsndtime, rcv_tsval, rcv_tsecr,
    rcv_nxt, rcv_tstamp, retrans_stamp, reord_seen
}

impl SocketFields {
    /// Those of a kernel that says what it has; a field that it has not is 0 for algorithms.
    pub(super) fn new<'a>(theirs: impl IntoIterator<Item = KernelField<'a>>) -> Self {
        let shared = theirs.into_iter().filter_map(|theirs| {
            let ours = OURS.iter().find(|ours| ours.name == theirs.name)?;
            Some(Shared {
                ours: ours.offset,
                our_bytes: ours.bytes,
                theirs: theirs.offset,
                their_bytes: theirs.bytes,
                is_written: ours.is_written,
            })
        });
        Self(shared.collect())
    }

    /// Reads the kernel's socket.
    ///
    /// # Safety
    ///
    /// `socket` is one of the kernel that said where its fields are.
    pub(super) unsafe fn read(&self, socket: *const u8, sock: &mut Sock) {
        for field in &self.0 {
            let to = (&raw mut *sock).cast::<u8>().wrapping_add(field.ours);
            let from = socket.wrapping_add(field.theirs);
            let bytes = field.our_bytes.min(field.their_bytes);
            // SAFETY: both fields lie in their sockets; what ours has more becomes zero, as all numbers are little-endian.
            unsafe {
                to.write_bytes(0, field.our_bytes);
                to.copy_from_nonoverlapping(from, bytes);
            }
        }
    }

    /// Writes what the algorithm may have changed into the kernel's socket.
    ///
    /// # Safety
    ///
    /// `socket` is one of the kernel that said where its fields are.
    pub(super) unsafe fn write(&self, sock: &Sock, socket: *mut u8) {
        for field in self.0.iter().filter(|field| field.is_written) {
            let from = (&raw const *sock).cast::<u8>().wrapping_add(field.ours);
            let to = socket.wrapping_add(field.theirs);
            let bytes = field.our_bytes.min(field.their_bytes);
            // SAFETY: both fields lie in their sockets.
            unsafe { to.copy_from_nonoverlapping(from, bytes) };
        }
    }
}

/// The connection of a sender's socket: its group, and the higher of its ports, by which it is known. `struct sock_common`, with
/// which a socket begins, has them in these places since Linux 3.9.
///
/// # Safety
///
/// `socket` is one of a kernel.
pub(super) unsafe fn connection_of(socket: *const u8) -> Option<(u16, u16)> {
    const OWN_ADDRESS: usize = 4;
    const PEERS_PORT: usize = 12;
    // SAFETY: these bytes are the socket's.
    let bytes: [u8; 16] = unsafe { socket.cast::<[u8; 16]>().read_unaligned() };
    let [_, high, low, _] = bytes[OWN_ADDRESS..][..4] else {
        return None;
    };
    let [first, second, own_low, own_high] = bytes[PEERS_PORT..][..4] else {
        return None;
    };
    let group = u16::from_be_bytes([high, low]);
    let (sender, _) = host_addresses(group);
    let ports = [
        u16::from_be_bytes([first, second]),
        u16::from_le_bytes([own_low, own_high]),
    ];
    (bytes[OWN_ADDRESS..][..4] == sender.octets()).then(|| (group, ports[0].max(ports[1])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_senders_socket_shows_its_connection() {
        let ports = [&10_007_u16.to_be_bytes()[..], &5001_u16.to_le_bytes()].concat();
        let socket = |own: [u8; 4]| [&[10, 1, 2, 2][..], &own, &[0; 4], &ports].concat();
        // SAFETY: each has 16 bytes.
        let found = |own| unsafe { connection_of(socket(own).as_ptr()) };
        assert_eq!(found([10, 1, 2, 1]), Some((258, 10_007)));
        assert_eq!(found([10, 1, 2, 2]), None, "a receiver");
        assert_eq!(found([127, 0, 0, 1]), None);
    }

    /// A kernel's socket in which fields have other places, and one another size.
    #[test]
    fn fields_are_read_by_name_and_only_the_writable_are_written() {
        let field = |name, offset, bytes| KernelField {
            name,
            offset,
            bytes,
        };
        let fields = SocketFields::new([
            field("snd_cwnd", 0, 4),
            field("sk_pacing_rate", 8, 8),
            field("srtt_us", 16, 4),
            field("unknown", 20, 4),
            field("sk_gso_max_segs", 24, 4),
        ]);
        let mut socket = [0_u8; 32];
        socket[0] = 10;
        socket[8..16].fill(0xff);
        socket[16] = 7;
        socket[24] = 44;
        let mut sock = Sock::new();
        // SAFETY: all fields lie in the array.
        unsafe { fields.read(socket.as_ptr(), &mut sock) };
        assert_eq!((sock.snd_cwnd, sock.sk_pacing_rate), (10, u64::MAX));
        assert_eq!((sock.srtt_us, sock.sk_gso_max_segs), (7, 44));
        (sock.snd_cwnd, sock.srtt_us, sock.sk_pacing_rate) = (12, 9, 5);
        // SAFETY: as above.
        unsafe { fields.write(&sock, socket.as_mut_ptr()) };
        assert_eq!((socket[0], socket[8], socket[9], socket[16]), (12, 5, 0, 7));
    }
}
