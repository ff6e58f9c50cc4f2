//! Queue disciplines of the kernel, as the network calls them.

use std::ffi::c_uint;
use std::fmt;

use dumbbell_emu::guest::KernelQueue;
use dumbbell_net::Ecn;

use crate::layout::Queued;

/// `DUMBBELL_NO_PACKET`: no packet has left.
const NO_PACKET: c_uint = c_uint::MAX;

/// What the kernel gives: it changes to the kernel's stack and back.
pub(crate) type Call = unsafe extern "C" fn(*mut Queued);

/// One of the kernel's disciplines.
#[derive(Clone, Copy)]
pub(crate) struct Qdisc {
    number: c_uint,
    enqueue: Call,
    dequeue: Call,
}

impl Qdisc {
    /// Number `number` of those that were planned.
    ///
    /// # Safety
    ///
    /// The calls are the kernel's, and only made while it calls this library.
    pub(crate) unsafe fn new(number: usize, enqueue: Call, dequeue: Call) -> Self {
        Self {
            number: number as c_uint,
            enqueue,
            dequeue,
        }
    }

    /// Makes a call, and adds the numbers that were dropped.
    fn call(&self, call: Call, mut queued: Queued, dropped: &mut Vec<u32>) -> Queued {
        // Each packet that waits may be dropped: `dropped` has room for all.
        queued.qdisc = self.number;
        queued.dropped = dropped.spare_capacity_mut().as_mut_ptr().cast();
        queued.room = (dropped.capacity() - dropped.len()) as c_uint;
        // SAFETY: it is the kernel's call, with as much room as it says.
        unsafe { call(&raw mut queued) };
        // SAFETY: the kernel has written them, not more than there was room for.
        unsafe { dropped.set_len(dropped.len() + queued.drops.min(queued.room) as usize) };
        queued
    }
}

impl fmt::Debug for Qdisc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Qdisc({})", self.number)
    }
}

impl KernelQueue for Qdisc {
    fn enqueue(&self, number: u32, ip_packet: &[u8], ecn: Ecn, dropped: &mut Vec<u32>) {
        let queued = Queued {
            number,
            packet: ip_packet.as_ptr(),
            bytes: ip_packet.len() as c_uint,
            ecn: ecn.bits().into(),
            ..Queued::default()
        };
        self.call(self.enqueue, queued, dropped);
    }

    fn dequeue(&self, dropped: &mut Vec<u32>) -> Option<(u32, Ecn)> {
        let queued = self.call(self.dequeue, Queued::default(), dropped);
        (queued.number != NO_PACKET).then(|| (queued.number, Ecn::from_bits(queued.ecn as u8)))
    }
}
