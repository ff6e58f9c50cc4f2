//! Memory of sockets: what their packets take, and the limit that all sockets of a kernel share (Linux's `tcp_mem`).

use std::cell::Cell;
use std::rc::Rc;

/// `MAX_TCP_HEADER` and `skb_shared_info`, which lie in the same buffer as the payload, bytes (x86-64, Linux 4.15).
const OVERHEAD_BYTES: u64 = 256 + 320;
/// Size of an `sk_buff`, bytes.
const DESCRIPTOR_BYTES: u64 = 256;

/// True size of a packet with `mss_bytes` of payload, as `tcp_sndbuf_expand` reckons it: 2304 bytes for 1448.
#[inline]
pub fn packet_memory_bytes(mss_bytes: u32) -> u64 {
    (u64::from(mss_bytes) + OVERHEAD_BYTES).next_power_of_two() + DESCRIPTOR_BYTES
}

/// What all sockets of a run have in use. Above the pressure threshold there is pressure, until three quarters of it
/// (`tcp_init_mem`: `tcp_mem[0]` is 3/4 of `tcp_mem[1]`).
#[derive(Debug)]
pub struct TcpMemory {
    pressure_bytes: u64,
    used_bytes: Cell<u64>,
    is_under_pressure: Cell<bool>,
    /// How often it came under pressure.
    pressure_count: Cell<u64>,
}

impl TcpMemory {
    /// Unused, with pressure above `pressure_bytes` (`tcp_mem[1]`).
    pub fn new(pressure_bytes: u64) -> Rc<Self> {
        Rc::new(Self {
            pressure_bytes,
            used_bytes: Cell::new(0),
            is_under_pressure: Cell::new(false),
            pressure_count: Cell::new(0),
        })
    }

    /// How often it came under pressure.
    pub fn pressure_count(&self) -> u64 {
        self.pressure_count.get()
    }

    fn change(&self, from_bytes: u64, to_bytes: u64) {
        let used_bytes = self.used_bytes.get() - from_bytes + to_bytes;
        self.used_bytes.set(used_bytes);
        if self.is_under_pressure.get() {
            self.is_under_pressure.set(!self.is_low(used_bytes));
        } else if used_bytes > self.pressure_bytes {
            self.is_under_pressure.set(true);
            self.pressure_count.set(self.pressure_count.get() + 1);
        }
    }

    fn is_low(&self, used_bytes: u64) -> bool {
        used_bytes <= self.pressure_bytes / 4 * 3
    }
}

/// What one endpoint has of it; freed with the endpoint.
#[derive(Debug)]
pub(crate) struct Share {
    memory: Rc<TcpMemory>,
    bytes: u64,
}

impl Share {
    pub(crate) fn new(memory: Rc<TcpMemory>) -> Self {
        Self { memory, bytes: 0 }
    }

    /// It has `bytes` now, more or less than before.
    pub(crate) fn charge(&mut self, bytes: u64) {
        if bytes != self.bytes {
            self.memory.change(self.bytes, bytes);
            self.bytes = bytes;
        }
    }

    pub(crate) fn is_under_pressure(&self) -> bool {
        self.memory.is_under_pressure.get()
    }

    /// Whether send buffers may grow: not from `tcp_mem[0]` on (`tcp_should_expand_sndbuf`).
    pub(crate) fn is_plentiful(&self) -> bool {
        !self.is_under_pressure() && self.memory.is_low(self.memory.used_bytes.get())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.charge(0);
    }
}
