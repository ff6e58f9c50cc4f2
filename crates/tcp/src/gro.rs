//! Receive offload at the receiver: segments of a connection that arrive in order and close together reach TCP
//! as one, and one ACK answers them (Linux's generic receive offload, GRO).
//!
//! As in Linux, what is held does not depend on what TCP expects: segments behind a hole are joined with each
//! other. Held segments go up when the time is over (`gro_flush_timeout`), or when one comes that cannot join
//! them: out of order, a longer one, with another timestamp, another ECN field or other flags, or more than
//! 64 kB together. One with PSH or FIN, or a shorter one, joins and goes up with them at once; one without
//! payload, or with CWR, passes by behind them, and so does a super-packet.

use dumbbell_net::{DATA_HEADER_BYTES, Ecn, IPV4_HEADER_BYTES, TCP_HEADER_BYTES, TIMESTAMPS_BYTES};

use crate::packet::{DataHeader, SegmentKind};
use crate::receiver::Receiver;

/// `GRO_LEGACY_MAX_SIZE`: an IP packet less than 64 kB is all that is held, bytes.
const MAX_IP_BYTES: u32 = 65_535;
/// Headers of the IP packet that is held, bytes.
const HEADERS_BYTES: u32 = IPV4_HEADER_BYTES + TCP_HEADER_BYTES + TIMESTAMPS_BYTES;

/// A segment as it arrived.
#[derive(Clone, Copy, Debug)]
struct Held {
    header: DataHeader,
    wire_bytes: u32,
    ecn: Ecn,
}

impl Held {
    fn payload_bytes(&self) -> u32 {
        self.wire_bytes.saturating_sub(DATA_HEADER_BYTES)
    }

    /// It may be held, alone or with others. CWR has a meaning of its own.
    fn may_be_held(&self) -> bool {
        self.header.is_data() && self.payload_bytes() > 0 && !self.header.cwr()
    }

    /// Nothing follows it for now: what is held with it goes up.
    fn is_last(&self) -> bool {
        self.header.psh() || self.header.kind() == SegmentKind::LastData
    }
}

/// Where a segment that reaches TCP stands among those that come up with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It was not held, and counts as it arrives.
    Alone,
    /// More follow; it counted when it came, as all that is held.
    Inner,
    /// The one that is answered.
    Last,
}

/// What a receiver holds of a connection.
#[derive(Debug)]
pub(crate) struct Gro {
    /// How long the first segment may be held, ns.
    hold_ns: u64,
    held: Vec<Held>,
    payload_bytes: u32,
}

impl Gro {
    /// Holds segments for `hold_ns`; 0: there is no receive offload.
    pub(crate) fn new(hold_ns: u64) -> Option<Box<Self>> {
        (hold_ns > 0).then(|| {
            Box::new(Self {
                hold_ns,
                held: Vec::new(),
                payload_bytes: 0,
            })
        })
    }

    /// Whether `next` continues what is held. Segments count, so `seq` is one more.
    fn takes(&self, next: &Held) -> bool {
        let (Some(first), Some(last)) = (self.held.first(), self.held.last()) else {
            return next.may_be_held();
        };
        next.may_be_held()
            && next.header.seq == last.header.seq + 1
            && next.header.ts_val_ms == last.header.ts_val_ms
            && next.header.ts_ecr_ms == last.header.ts_ecr_ms
            && next.header.ace() == last.header.ace()
            && next.ecn == last.ecn
            && next.payload_bytes() <= first.payload_bytes()
            && self.payload_bytes + next.payload_bytes() + HEADERS_BYTES <= MAX_IP_BYTES
    }

    fn is_complete(&self) -> bool {
        let ends = |first: &Held, last: &Held| {
            last.is_last() || last.payload_bytes() < first.payload_bytes()
        };
        (self.held.first().zip(self.held.last())).is_some_and(|(first, last)| ends(first, last))
    }
}

impl Receiver {
    /// A packet arrives where there is receive offload.
    #[cold]
    pub(crate) fn coalesce(&mut self, now_ns: u64, header: &DataHeader, wire_bytes: u32, ecn: Ecn) {
        let next = Held {
            header: *header,
            wire_bytes,
            ecn,
        };
        if !self.gro.as_ref().is_some_and(|gro| gro.takes(&next)) {
            self.flush(now_ns);
        }
        let Some(gro) = self.gro.as_mut().filter(|_| next.may_be_held()) else {
            return self.receive(now_ns, header, wire_bytes, ecn);
        };
        if gro.held.is_empty() {
            self.flush_due_ns = now_ns + gro.hold_ns;
        }
        gro.payload_bytes += next.payload_bytes();
        gro.held.push(next);
        let is_complete = gro.is_complete();
        self.count_arrival(next.payload_bytes(), ecn);
        if is_complete {
            self.flush(now_ns);
        }
    }

    /// What is held reaches TCP, as one: only the last of it is answered.
    #[cold]
    pub(crate) fn flush(&mut self, now_ns: u64) {
        self.flush_due_ns = u64::MAX;
        let Some(gro) = self.gro.as_mut() else {
            return;
        };
        gro.payload_bytes = 0;
        let mut held = std::mem::take(&mut gro.held);
        let count = held.len();
        for (index, it) in held.drain(..).enumerate() {
            self.place = if index + 1 < count {
                Place::Inner
            } else {
                Place::Last
            };
            self.receive(now_ns, &it.header, it.wire_bytes, it.ecn);
        }
        self.place = Place::Alone;
        if let Some(gro) = self.gro.as_mut() {
            gro.held = held; // its memory
        }
    }
}
