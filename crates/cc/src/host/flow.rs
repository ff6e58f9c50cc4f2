//! A socket that runs a congestion control algorithm, and the calls Linux makes on it.

use std::fmt;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use dumbbell_cc_abi::{AckSample, CaEvent, CaState, LostSegment, ModuleOps, RateSample, Sock};

use crate::host::fault::{
    Fault, HELD_RUNAWAY_TIMES, LARGEST_WINDOW_BYTES, MAX_CWND_PKTS, MAX_CWND_ZERO_NS, cwnd_remedy,
    runaway_pkts,
};
use crate::host::field_watch::FieldWatch;
use crate::host::hosted::HostedPointer;
use crate::host::instance::Instance;
use crate::host::running::Op;
use crate::object::declarations::{Reader, StatePlace};

/// `icsk_ca_initialized` in [`Sock::icsk_ca_bits`].
const CA_INITIALIZED: u8 = 1 << 5;

/// A socket running an [`Instance`]. The sender's state is in `sock`; every method
/// calls the op of its name, with the instance's clock at `sock.tcp_clock_cache`.
#[derive(Debug)]
pub struct Flow {
    /// The socket, shared by the simulated TCP and the congestion control algorithm.
    pub sock: Sock,
    storage: Storage,
    /// The instance's, unless a kernel module gave this socket another table. Shared, so that many flows have one in the
    /// processor's cache.
    table: Rc<ModuleOps>,
    /// In place of the storage, if the congestion control algorithm is not written in C.
    hosted: Option<HostedPointer>,
    /// Address that the socket carries for the congestion control algorithm: of the storage, or of `hosted`.
    address: u64,
    instance: Rc<Instance>,
    /// The flow's number in the run, for reports.
    number: u32,
    /// For a BPF source: detects writes that the kernel would not allow.
    watch: Option<Box<FieldWatch>>,
    /// Time since which every reaction to an ACK has left cwnd at 0.
    cwnd_zero_since_ns: Option<u64>,
    cwnd_zero_max_ns: u64,
    runaway_pkts: u32,
}

impl Flow {
    pub(crate) fn new(instance: Rc<Instance>) -> Self {
        let storage = Storage::new(instance.declarations().storage_bytes);
        let hosted = instance.new_hosted_flow();
        let address = hosted
            .as_ref()
            .map_or_else(|| storage.address(), HostedPointer::address);
        Self {
            sock: Sock::new(),
            storage,
            table: Rc::clone(instance.ops()),
            hosted,
            address,
            watch: instance.is_bpf_source().then(Box::default),
            runaway_pkts: runaway_pkts(instance.path_pkts()),
            instance,
            number: 0,
            cwnd_zero_since_ns: None,
            cwnd_zero_max_ns: 0,
        }
    }

    /// Sets the number by which crash reports and faults name the flow.
    pub fn set_number(&mut self, number: u32) {
        self.number = number;
    }

    /// The instance it runs.
    pub fn instance(&self) -> &Rc<Instance> {
        &self.instance
    }

    /// The longest time during which every reaction to an ACK left cwnd at 0.
    pub fn cwnd_zero_max_ns(&self) -> u64 {
        self.cwnd_zero_max_ns
    }

    /// Packets in flight from which on its cwnd has run away ([`Instance::set_path_pkts`]).
    #[inline]
    pub fn runaway_pkts(&self) -> u32 {
        self.runaway_pkts
    }

    /// Whether its cwnd has run away though the receive window, which the scenario does not set, holds it back.
    #[cold]
    pub fn has_run_away_behind_window(&self, mss_bytes: u32) -> bool {
        let sock = &self.sock;
        let most_pkts = self.instance.path_pkts().saturating_mul(HELD_RUNAWAY_TIMES);
        self.instance.has_default_window()
            && u64::from(sock.snd_cwnd) * u64::from(mss_bytes) > LARGEST_WINDOW_BYTES
            && u64::from(sock.packets_in_flight()) > most_pkts
    }

    /// Reports that cwnd has run away.
    #[cold]
    pub fn note_runaway(&self) {
        let op = if self.has_cong_control() {
            Op::CongControl
        } else {
            Op::CongAvoid
        };
        let sock = &self.sock;
        let violation = format!("let cwnd run away to {} packets", sock.snd_cwnd);
        let remedy = format!(
            "{} packets are in flight on a path that holds {} with its buffers; limit cwnd, for example \
             to twice what is delivered in an RTT",
            sock.packets_in_flight(),
            self.instance.path_pkts()
        );
        self.note(op, violation, remedy);
    }

    /// The congestion control algorithm's name.
    pub fn name(&self) -> &str {
        self.instance.name()
    }

    /// Starts the congestion control algorithm on this socket, as Linux does when the handshake is done.
    pub fn init(&mut self) {
        self.sock.prior_ssthresh = 0;
        self.sock.icsk_ca_ops = self.instance.module_ops();
        if let Some(init) = self.table.ops.init {
            let sock = self.enter(Op::Init);
            // SAFETY: `enter`.
            unsafe { init(sock) };
            self.leave(Op::Init);
        }
        match self.instance.exchanged_ops(self.sock.icsk_ca_ops) {
            None => {}
            Some(Ok(table)) => self.table = Rc::new(table),
            Some(Err(violation)) => self.note_exchange(violation),
        }
        self.sock.icsk_ca_bits |= CA_INITIALIZED;
    }

    /// Whether it expects what kernels patched for BBRv2 and BBRv3 report: the state of the
    /// connection when a segment left, and that a loss probe repaired a loss.
    #[inline]
    pub fn is_of_patched_kernel(&self) -> bool {
        self.table.tso_segs.is_some() || self.table.skb_marked_lost.is_some()
    }

    /// Whether rate samples should have the state of the connection when the segment left:
    /// `tx_in_flight`, `prior_lost` and `lost`.
    #[inline]
    pub fn records_transmit_state(&self) -> bool {
        self.instance.module_ops() != 0
    }

    /// The slow-start threshold after a loss, packets.
    #[inline]
    pub fn ssthresh(&mut self) -> u32 {
        let ssthresh = self.table.ops.ssthresh.expect("checked on load");
        let sock = self.enter(Op::Ssthresh);
        // SAFETY: `enter`.
        let value = unsafe { ssthresh(sock) };
        self.leave(Op::Ssthresh);
        value
    }

    /// Whether [`Flow::cong_control`] replaces [`Flow::cong_avoid`] and Linux's own cwnd
    /// and pacing updates.
    #[inline]
    pub fn has_cong_control(&self) -> bool {
        self.table.ops.cong_control.is_some()
    }

    /// Sets cwnd and pacing rate from a delivery-rate sample, at the end of an ACK's processing.
    #[inline]
    pub fn cong_control(&mut self, ack: u32, flag: i32, rs: &RateSample) {
        if let Some(cong_control) = self.table.ops.cong_control {
            let sock = self.enter(Op::CongControl);
            // SAFETY: `enter`; the sample is only read, during the call.
            unsafe { cong_control(sock, ack, flag, rs) };
            self.leave(Op::CongControl);
        }
    }

    /// Grows cwnd for `acked` newly acknowledged packets.
    #[inline]
    pub fn cong_avoid(&mut self, ack: u32, acked: u32) {
        if let Some(cong_avoid) = self.table.ops.cong_avoid {
            let sock = self.enter(Op::CongAvoid);
            // SAFETY: `enter`.
            unsafe { cong_avoid(sock, ack, acked) };
            self.leave(Op::CongAvoid);
        }
    }

    /// Calls `set_state` with a new loss-recovery state, then enters it: during the call
    /// `icsk_ca_state` is still the old one, as in Linux.
    #[inline]
    pub fn set_state(&mut self, state: CaState) {
        if let Some(set_state) = self.table.ops.set_state {
            let sock = self.enter(Op::SetState);
            // SAFETY: `enter`.
            unsafe { set_state(sock, state as u8) };
            self.leave(Op::SetState);
        }
        self.sock.set_ca_state(state);
    }

    /// Reports an event of cwnd or ECN to the congestion control algorithm.
    #[inline]
    pub fn cwnd_event(&mut self, event: CaEvent) {
        if event == CaEvent::TxStart
            && let Some(cwnd_event_tx_start) = self.table.ops.cwnd_event_tx_start
        {
            let sock = self.enter(Op::CwndEventTxStart);
            // SAFETY: `enter`.
            unsafe { cwnd_event_tx_start(sock) };
            self.leave(Op::CwndEventTxStart);
        } else if let Some(cwnd_event) = self.table.ops.cwnd_event {
            let sock = self.enter(Op::CwndEvent);
            // SAFETY: `enter`.
            unsafe { cwnd_event(sock, event as u32) };
            self.leave(Op::CwndEvent);
        }
    }

    /// Reports an ACK to the congestion control algorithm when what it acknowledges has been counted and
    /// before losses are detected; `flags` are `CA_ACK_*`.
    #[inline]
    pub fn in_ack_event(&mut self, flags: u32) {
        if let Some(in_ack_event) = self.table.ops.in_ack_event {
            let sock = self.enter(Op::InAckEvent);
            // SAFETY: `enter`.
            unsafe { in_ack_event(sock, flags) };
            self.leave(Op::InAckEvent);
        }
    }

    /// Whether the congestion control algorithm wants [`Flow::pkts_acked`].
    #[inline]
    pub fn has_pkts_acked(&self) -> bool {
        self.table.ops.pkts_acked.is_some()
    }

    /// Reports newly acknowledged packets and their RTT to the congestion control algorithm.
    #[inline]
    pub fn pkts_acked(&mut self, sample: &AckSample) {
        if let Some(pkts_acked) = self.table.ops.pkts_acked {
            let sock = self.enter(Op::PktsAcked);
            // SAFETY: `enter`; the sample is only read, during the call.
            unsafe { pkts_acked(sock, sample) };
            self.leave(Op::PktsAcked);
        }
    }

    /// The smallest TSO burst that the congestion control algorithm wants, packets, if it has the op.
    #[inline]
    pub fn min_tso_segs(&mut self) -> Option<u32> {
        let min_tso_segs = self.table.ops.min_tso_segs?;
        let sock = self.enter(Op::MinTsoSegs);
        // SAFETY: `enter`.
        let value = unsafe { min_tso_segs(sock) };
        self.leave(Op::MinTsoSegs);
        Some(value)
    }

    /// The size of a TSO burst, packets, if the congestion control algorithm chooses it.
    #[inline]
    pub fn tso_segs(&mut self) -> Option<u32> {
        let tso_segs = self.table.tso_segs?;
        let mss_bytes = self.sock.mss_cache;
        let sock = self.enter(Op::TsoSegs);
        // SAFETY: `enter`.
        let value = unsafe { tso_segs(sock, mss_bytes) };
        self.leave(Op::TsoSegs);
        Some(value)
    }

    /// Whether the congestion control algorithm wants [`Flow::skb_marked_lost`].
    #[inline]
    pub fn has_skb_marked_lost(&self) -> bool {
        self.table.skb_marked_lost.is_some()
    }

    /// Reports a segment that was just declared lost.
    #[inline]
    pub fn skb_marked_lost(&mut self, segment: &LostSegment) {
        if let Some(skb_marked_lost) = self.table.skb_marked_lost {
            let sock = self.enter(Op::SkbMarkedLost);
            // SAFETY: `enter`; the segment is only read, during the call.
            unsafe { skb_marked_lost(sock, segment) };
            self.leave(Op::SkbMarkedLost);
        }
    }

    /// cwnd after a recovery that turned out to be spurious, packets.
    #[inline]
    pub fn undo_cwnd(&mut self) -> u32 {
        let undo_cwnd = self.table.ops.undo_cwnd.expect("checked on load");
        let sock = self.enter(Op::UndoCwnd);
        // SAFETY: `enter`.
        let cwnd_pkts = unsafe { undo_cwnd(sock) };
        self.leave(Op::UndoCwnd);
        if cwnd_pkts.wrapping_sub(1) >= MAX_CWND_PKTS {
            self.note_cwnd(Op::UndoCwnd, "returned a cwnd of", cwnd_pkts);
        }
        cwnd_pkts
    }

    /// How many cwnds the send buffer should hold, if the congestion control algorithm has the op (Linux's
    /// default is 2).
    #[inline]
    pub fn sndbuf_expand(&mut self) -> Option<u32> {
        let sndbuf_expand = self.table.ops.sndbuf_expand?;
        let sock = self.enter(Op::SndbufExpand);
        // SAFETY: `enter`.
        let value = unsafe { sndbuf_expand(sock) };
        self.leave(Op::SndbufExpand);
        Some(value)
    }

    /// Passes each series' index and raw value to `take`, in the order of [`Instance::series`];
    /// signed values are sign-extended.
    #[inline]
    pub fn read_series(&self, mut take: impl FnMut(usize, u64)) {
        if let Some(hosted) = &self.hosted {
            return hosted.read_series(&mut take);
        }
        for (index, reader) in self.instance.readers().iter().enumerate() {
            take(index, self.read(*reader));
        }
    }

    #[inline]
    fn read(&self, reader: Reader) -> u64 {
        reader.read(match reader.place {
            StatePlace::CaPriv => &self.sock.icsk_ca_priv[..],
            StatePlace::Storage => self.storage.words(),
        })
    }

    /// Prepares a call into the congestion control algorithm: sets the instance's clock to the socket's, and
    /// returns the socket.
    ///
    /// The ops may then be called with it: they come from the object that the instance keeps
    /// mapped; the socket has the layout they were compiled for (checked on load), is borrowed
    /// exclusively, and points to storage of the declared size; nothing of it outlives the call.
    #[inline(always)]
    fn enter(&mut self, op: Op) -> &mut Sock {
        let now_ns = self.sock.tcp_clock_cache;
        self.instance.set_clock(now_ns);
        self.instance.running().enter(op, self.number, now_ns);
        // Every time, because safe code can move `sock` from one flow to another.
        self.sock.host_storage = self.address;
        if self.watch.is_some() {
            self.watch_call(op);
        }
        &mut self.sock
    }

    #[cold]
    fn watch_call(&mut self, op: Op) {
        if let Some(watch) = &mut self.watch {
            watch.enter(op, &self.sock);
        }
    }

    /// Ends a call into the congestion control algorithm.
    #[inline(always)]
    fn leave(&mut self, op: Op) {
        self.instance.running().leave(op, self.number);
        if self.watch.is_some() {
            self.check_writes(op);
        }
        let usual = self.sock.snd_cwnd.wrapping_sub(1) < MAX_CWND_PKTS;
        if !usual || self.cwnd_zero_since_ns.is_some() {
            self.look_at_cwnd(op);
        }
    }

    #[cold]
    fn check_writes(&mut self, op: Op) {
        if let Some(watch) = &mut self.watch
            && let Some(field) = watch.leave(&self.sock)
        {
            self.note_write(op, field);
        }
    }

    /// A cwnd that is too large is a fault at once, and one of 0 if it lasts: the timeout that
    /// follows gives the next ACK's call a chance to set another.
    #[cold]
    fn look_at_cwnd(&mut self, op: Op) {
        let now_ns = self.sock.tcp_clock_cache;
        let cwnd_pkts = self.sock.snd_cwnd;
        let since_ns = self.cwnd_zero_since_ns.unwrap_or(now_ns);
        let at_zero_ns = now_ns - since_ns;
        let longest_ns = self.cwnd_zero_max_ns.max(at_zero_ns);
        if cwnd_pkts == 0 {
            self.cwnd_zero_since_ns = Some(since_ns);
            self.cwnd_zero_max_ns = longest_ns;
            if at_zero_ns >= MAX_CWND_ZERO_NS {
                self.note_cwnd(op, "left cwnd for a second at", cwnd_pkts);
            }
        } else if cwnd_pkts > MAX_CWND_PKTS {
            self.note_cwnd(op, "set cwnd to", cwnd_pkts);
        } else if matches!(op, Op::CongControl | Op::CongAvoid) {
            self.cwnd_zero_since_ns = None;
            self.cwnd_zero_max_ns = longest_ns;
        }
    }

    /// The socket keeps the table that was registered.
    #[cold]
    fn note_exchange(&self, violation: String) {
        let remedy = "Linux would call a null pointer; add the op to that table";
        self.note(Op::Init, violation, remedy.to_owned());
    }

    #[cold]
    fn note_write(&self, op: Op, field: &str) {
        let remedy = "the kernel does not let BPF algorithms write that field";
        self.note(op, format!("wrote `{field}`"), remedy.to_owned());
    }

    #[cold]
    fn note_cwnd(&self, op: Op, what: &str, cwnd_pkts: u32) {
        self.note(op, format!("{what} {cwnd_pkts}"), cwnd_remedy());
    }

    /// Keeps the fault for [`Instance::fault`]; the run continues until that is checked.
    fn note(&self, op: Op, violation: String, remedy: String) {
        self.instance.note_fault(Fault {
            cc: self.instance.requested().to_owned(),
            op: op.name(),
            flow: self.number,
            now_ns: self.sock.tcp_clock_cache,
            violation,
            remedy,
        });
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        if self.sock.icsk_ca_bits & CA_INITIALIZED == 0 {
            return;
        }
        if let Some(release) = self.table.ops.release {
            let sock = self.enter(Op::Release);
            // SAFETY: `enter`; the storage is freed after this.
            unsafe { release(sock) };
            self.leave(Op::Release);
        }
        self.instance.forget_socket(self.storage.address());
    }
}

/// The `bpf_sk_storage` value of one socket, followed by a word in which `cc/include/maps.c`
/// records whether it exists. A raw allocation, because the C keeps no Rust borrow of it.
struct Storage(NonNull<[u64]>);

impl Storage {
    /// Never empty: maps identify the socket by its address.
    fn new(size_bytes: usize) -> Self {
        let words: Box<[u64]> = vec![0; size_bytes.div_ceil(8) + 1].into();
        Self(NonNull::from(Box::leak(words)))
    }

    /// Its address for the C.
    fn address(&self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }

    #[inline]
    fn words(&self) -> &[u64] {
        // SAFETY: allocated and initialised by `new`; the C writes it only during calls that
        // borrow the flow exclusively.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // SAFETY: leaked from a Box in `new`, and freed once.
        drop(unsafe { Box::from_raw(ptr::from_mut(self.0.as_mut())) });
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words().fmt(f)
    }
}
