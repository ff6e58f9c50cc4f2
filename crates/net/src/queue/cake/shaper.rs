//! CAKE's shaper: it counts when the link has sent what was sent before, and has no bucket that could
//! make a burst.

/// Slowest rate, bytes/s: slower ones would not come to an end in a reasonable time, says Linux.
const MIN_BYTES_PER_S: u64 = 64;

/// Time per byte, as a fraction whose denominator is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteTime {
    ns: u64,
    shift: u32,
}

impl ByteTime {
    /// At a rate that is not 0, with 34 bits.
    pub(super) fn new(bytes_per_s: u64) -> Self {
        let mut ns = (1_000_000_000 << 34) / bytes_per_s.max(MIN_BYTES_PER_S);
        let mut shift = 34;
        while ns >> 34 != 0 {
            ns >>= 1;
            shift -= 1;
        }
        Self { ns, shift }
    }

    /// How long `bytes` take, ns.
    #[inline]
    pub(super) fn of(self, bytes: u32) -> i64 {
        ((u64::from(bytes) * self.ns) >> self.shift) as i64
    }
}

/// The shaper of all tins together.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    byte_time: ByteTime,
    /// When the next packet may leave.
    next: i64,
    /// The same at two thirds of the rate, not charged for drops: what leaves if drops at an ingress have
    /// pushed `next` far ahead.
    failsafe_next: i64,
}

impl Shaper {
    pub(super) fn new(byte_time: ByteTime) -> Self {
        Self {
            byte_time,
            next: 0,
            failsafe_next: 0,
        }
    }

    /// A packet finds nothing waiting: what was not sent in the meantime is lost.
    #[inline]
    pub(super) fn wake(&mut self, now: i64) {
        if self.next < now {
            self.next = now;
            self.failsafe_next = now;
        }
    }

    /// When the next packet may leave.
    #[inline]
    pub(super) fn due(&self) -> i64 {
        self.next.min(self.failsafe_next)
    }

    /// Charges a packet of this size, which was sent or, at an ingress, dropped.
    #[inline]
    pub(super) fn charge(&mut self, bytes: u32, is_drop: bool) {
        let duration = self.byte_time.of(bytes);
        self.next += duration;
        if !is_drop {
            self.failsafe_next += duration + duration / 2;
        }
    }
}

/// The clock of a tin: whether it is within its share of the rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct TinClock {
    pub(super) byte_time: ByteTime,
    next: i64,
}

impl TinClock {
    pub(super) fn new(byte_time: ByteTime) -> Self {
        Self { byte_time, next: 0 }
    }

    /// A packet finds the tin empty.
    #[inline]
    pub(super) fn wake(&mut self, now: i64) {
        self.next = self.next.max(now);
    }

    /// How far its schedule is ahead of now; 0 or less: within its share.
    #[inline]
    pub(super) fn ahead(&self, now: i64) -> i64 {
        self.next - now
    }

    /// Charges a packet. A tin beyond its share is never further ahead than by this packet.
    #[inline]
    pub(super) fn charge(&mut self, now: i64, bytes: u32) {
        let duration = self.byte_time.of(bytes);
        if self.next < now {
            self.next += duration;
        } else if self.next < now + duration {
            self.next = now + duration;
        }
    }
}
