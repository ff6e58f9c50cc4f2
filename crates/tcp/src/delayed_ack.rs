//! How long an ACK may wait (RFC 1122 §4.2.3.2, RFC 5681 §4.2), as Linux decides it.
//!
//! Linux delays the ACK of a single segment only where it expects to be able to send it with more:
//! with the ACK of a second full segment, or with the answer of an application that answers. A
//! segment that is not full, or that has PSH, is taken for the end of what was to be said, and is
//! acknowledged as soon as the application has read it, unless that application answers.

/// `TCP_ATO_MIN`: how long an ACK may be delayed at first, ns (RFC 1122 §4.2.3.2: under 500 ms).
const ATO_MIN_NS: u64 = 40_000_000;
/// `TCP_DELACK_MIN`: what no round trip makes shorter, ns.
const DELAY_MIN_NS: u64 = 40_000_000;
/// `TCP_DELACK_MAX`: how long an ACK may be delayed at most, ns.
const DELAY_MAX_NS: u64 = 200_000_000;
/// `TCP_MAX_QUICKACKS`: segments acknowledged at once at the start, so that slow start is not slowed.
const MAX_QUICKACKS: u32 = 16;
/// `TCP_MSS_DEFAULT`: the estimate of the sender's segments before any has arrived, bytes.
const MSS_DEFAULT_BYTES: u32 = 536;
/// Linux's `TCP_MIN_MSS`, bytes.
const MSS_MIN_BYTES: u32 = 88;
/// The window of a SYN, which is not scaled (RFC 7323 §2.2), bytes.
const FIRST_WINDOW_BYTES: u32 = 65_535;
/// The options that every segment has (RFC 7323), by which Linux lets the estimate be less, bytes.
const OPTIONS_BYTES: u32 = dumbbell_net::TIMESTAMPS_BYTES;

/// Segments that the application may have received since the last ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pushed {
    /// More is expected.
    No,
    /// A segment was not full, or had PSH.
    Once,
    /// And another was not full.
    Again,
}

/// The state of Linux's delayed ACKs (`icsk_ack`).
#[derive(Debug)]
pub(crate) struct DelayedAck {
    /// Payload of a full segment as estimated from what arrives, bytes (`rcv_mss`).
    pub(crate) mss_bytes: u32,
    /// The largest it can be, bytes.
    mss_max_bytes: u32,
    /// Payload of the last segment that was less, bytes; 0: it was not.
    last_less_bytes: u32,
    /// ACKs that are not delayed yet.
    quickacks: u32,
    /// The delay as the gaps between segments have it, ns (`ato`).
    ato_ns: u64,
    /// The longest delay, ns: a round trip, if one is known.
    max_delay_ns: u64,
    last_data_ns: Option<u64>,
    pushed: Pushed,
    /// This host answered what it last received before an ACK was due (Linux's pingpong mode).
    answers: bool,
}

impl DelayedAck {
    /// For segments of at most `mss_bytes`.
    pub(crate) fn new(mss_bytes: u32) -> Self {
        Self {
            mss_bytes: MSS_DEFAULT_BYTES.min(mss_bytes),
            mss_max_bytes: mss_bytes,
            last_less_bytes: 0,
            quickacks: 0,
            ato_ns: 0,
            max_delay_ns: DELAY_MAX_NS,
            last_data_ns: None,
            pushed: Pushed::No,
            answers: false,
        }
    }

    /// This host has measured a round trip: no ACK waits longer (`tcp_send_delayed_ack`).
    pub(crate) fn note_rtt(&mut self, rtt_ns: u64) {
        self.max_delay_ns = rtt_ns.clamp(DELAY_MIN_NS, DELAY_MAX_NS);
    }

    /// A segment arrived in order: the delay follows the gaps between segments; a flow's start, and a
    /// pause longer than `rto_ns`, ask for quick ACKs.
    #[inline(always)]
    pub(crate) fn on_data(
        &mut self,
        now_ns: u64,
        payload_bytes: u32,
        psh: bool,
        rto_ns: u64,
        rwnd_bytes: u32,
    ) {
        self.measure_mss(payload_bytes, psh);
        match self.last_data_ns {
            None => {
                // `tcp_grow_window`: while the window grows, which here it does once, one more ACK is quick.
                let grows = rwnd_bytes > FIRST_WINDOW_BYTES;
                self.quickacks = self.max_quickacks(rwnd_bytes) | u32::from(grows);
                self.ato_ns = ATO_MIN_NS;
            }
            Some(last_ns) => {
                let gap_ns = now_ns - last_ns;
                if gap_ns <= ATO_MIN_NS / 2 {
                    self.ato_ns = self.ato_ns / 2 + ATO_MIN_NS / 2;
                } else if gap_ns < self.ato_ns {
                    self.ato_ns = (self.ato_ns / 2 + gap_ns).min(rto_ns).min(DELAY_MAX_NS);
                } else if gap_ns > rto_ns {
                    self.quickacks = self.quickacks.max(self.max_quickacks(rwnd_bytes));
                }
            }
        }
        self.last_data_ns = Some(now_ns);
    }

    #[inline]
    fn measure_mss(&mut self, payload_bytes: u32, psh: bool) {
        if payload_bytes < self.mss_bytes {
            return self.note_less(payload_bytes, psh);
        }
        self.last_less_bytes = 0;
        self.mss_bytes = payload_bytes.min(self.mss_max_bytes);
        if psh {
            self.pushed = self.pushed.max(Pushed::Once);
        }
    }

    /// A segment that is not full: the end of a message, unless the sender's segments have become
    /// smaller, which two of the same size show.
    #[cold]
    fn note_less(&mut self, payload_bytes: u32, psh: bool) {
        let last_bytes = std::mem::take(&mut self.last_less_bytes);
        let with_options_bytes = payload_bytes + OPTIONS_BYTES;
        if with_options_bytes >= MSS_DEFAULT_BYTES || (with_options_bytes >= MSS_MIN_BYTES && !psh)
        {
            self.last_less_bytes = payload_bytes;
            if payload_bytes == last_bytes {
                self.mss_bytes = payload_bytes;
                return;
            }
        }
        self.pushed = match self.pushed {
            Pushed::No => Pushed::Once,
            Pushed::Once | Pushed::Again => Pushed::Again,
        };
    }

    /// Whether the ACK of a segment that has just arrived does not wait, if the application has read it or has not.
    #[inline]
    pub(crate) fn is_quick(&self, has_read: bool) -> bool {
        let pushed = if has_read { self.pushed } else { Pushed::No };
        match pushed {
            Pushed::No => self.quickacks > 0 && !self.answers,
            Pushed::Once => !self.answers,
            Pushed::Again => true,
        }
    }

    /// How long an ACK may wait now, ns: before any data not beyond the next tick.
    #[inline]
    pub(crate) fn delay_ns(&self) -> u64 {
        self.ato_ns.min(self.max_delay_ns)
    }

    /// The next `quickacks` ACKs are not delayed.
    pub(crate) fn enter_quickack_mode(&mut self, quickacks: u32) {
        self.quickacks = self.quickacks.max(quickacks);
        self.ato_ns = ATO_MIN_NS;
        self.answers = false;
    }

    /// A duplicate arrived: the sender may be in trouble.
    pub(crate) fn on_duplicate(&mut self, rwnd_bytes: u32) {
        self.quickacks = self.quickacks.max(self.max_quickacks(rwnd_bytes));
        self.answers = false;
    }

    /// This host sends data.
    pub(crate) fn on_answer(&mut self, now_ns: u64) {
        let is_answer = |last_ns| now_ns - last_ns < self.ato_ns;
        self.answers |= self.last_data_ns.is_some_and(is_answer);
    }

    /// An answer is expected, which the next ACK waits for.
    pub(crate) fn await_answer(&mut self) {
        self.answers = true;
    }

    /// The delay passed without an occasion: it becomes longer, unless it waited for an answer (`tcp_delack_timer_handler`).
    pub(crate) fn on_timeout(&mut self, rto_ns: u64) {
        if self.answers {
            self.answers = false;
            self.ato_ns = ATO_MIN_NS;
        } else {
            self.ato_ns = (2 * self.ato_ns).min(rto_ns).min(DELAY_MAX_NS);
        }
    }

    /// An ACK leaves.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self) {
        self.pushed = Pushed::No;
        self.quickacks = self.quickacks.saturating_sub(1);
    }

    fn max_quickacks(&self, rwnd_bytes: u32) -> u32 {
        (rwnd_bytes / (2 * self.mss_bytes)).clamp(2, MAX_QUICKACKS)
    }
}
