//! How the receivers of bulk flows and transfers read, on every engine: which ACKs they send follows from it.

use crate::Group;

/// Bytes that must have arrived before the reader is woken, after the first [`PROMPT_BYTES`]. On the kernel engine a wake-up
/// per packet would cost a fifth of a core at 1 Gbit/s. Linux then acknowledges every second packet without waiting for the
/// reader (0.50 to 0.54 ACKs per packet; 0.51 to 0.62 for a reader that never waits, because reading what ends in PSH causes an
/// extra ACK), and unread data stays far below the buffer.
const LOW_WATER_BYTES: u64 = 16 * 1024;

/// Bytes that are read as they arrive: Linux sizes the buffer by what is read per RTT, and in slow start a reader that waits
/// makes the window lag behind cwnd.
pub const PROMPT_BYTES: u64 = 1 << 20;

impl Group {
    /// Bytes that must have arrived before its readers are woken, after the first [`PROMPT_BYTES`].
    pub fn low_water_bytes(&self) -> u64 {
        LOW_WATER_BYTES.min(self.host.rwnd_bytes / 2).max(1)
    }
}
