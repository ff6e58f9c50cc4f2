//! Datagrams of a user: sent from a socket of its own, and known again where they arrive.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use dumbbell_net::Ecn;

use crate::sockets::{datagram, socket};

/// Bytes of a datagram's number that it carries, the lowest first; a shorter one carries fewer.
pub(crate) const NUMBER_BYTES: usize = 8;

/// Datagrams on the way that are known again; more are lost, as far as the application can tell.
const MAX_ON_THE_WAY: usize = 1 << 16;

/// Sends a user's datagrams.
#[derive(Debug)]
pub(crate) struct DatagramSource {
    socket: OwnedFd,
    /// The ECN field of what it sends.
    ecn: Ecn,
    /// When they were sent, ns, from number `first_number` on.
    sent_ns: VecDeque<u64>,
    first_number: u64,
    /// The number after the highest that has arrived.
    next_arrival: u64,
    payload: Vec<u8>,
}

impl DatagramSource {
    /// A source that sends from `socket`, which is connected.
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            ecn: Ecn::NotEct,
            sent_ns: VecDeque::new(),
            first_number: 0,
            next_arrival: 0,
            payload: Vec::new(),
        }
    }

    /// Sends datagram `number` at `now_ns`; numbers follow one another. Whether the host took it.
    pub(crate) fn send(
        &mut self,
        now_ns: u64,
        number: u64,
        bytes: u32,
        ecn: Ecn,
    ) -> io::Result<bool> {
        if ecn != self.ecn {
            datagram::set_ecn(&self.socket, ecn)?;
            self.ecn = ecn;
        }
        if self.sent_ns.is_empty() {
            self.first_number = number;
        }
        self.sent_ns.push_back(now_ns);
        if self.sent_ns.len() > MAX_ON_THE_WAY {
            self.sent_ns.pop_front();
            self.first_number += 1;
        }
        self.payload.clear();
        self.payload.resize(bytes as usize, 0);
        let carried = self.payload.iter_mut().zip(number.to_le_bytes());
        carried.for_each(|(to, byte)| *to = byte);
        Ok(socket::send(&self.socket, &self.payload)?.is_some())
    }

    /// A datagram that begins with `start` has arrived: its number, and when it was sent; `None` if that is not
    /// known.
    pub(crate) fn take(&mut self, start: &[u8]) -> Option<(u64, u64)> {
        let number = number_near(self.next_arrival, start);
        let place = usize::try_from(number.checked_sub(self.first_number)?).ok()?;
        let &sent_ns = self.sent_ns.get(place)?;
        self.next_arrival = self.next_arrival.max(number + 1);
        Some((number, sent_ns))
    }
}

/// The number nearest to `expected` that has these lowest bytes.
fn number_near(expected: u64, low_bytes: &[u8]) -> u64 {
    let mut number = [0; NUMBER_BYTES];
    let count = low_bytes.len().min(NUMBER_BYTES);
    number[..count].copy_from_slice(&low_bytes[..count]);
    let low = u64::from_le_bytes(number);
    if count == NUMBER_BYTES {
        return low;
    }
    let modulus = 1_u64 << (8 * count);
    let base = expected - expected % modulus + low;
    let candidates = [
        base.checked_sub(modulus),
        Some(base),
        base.checked_add(modulus),
    ];
    let candidates = candidates.into_iter().flatten();
    candidates
        .min_by_key(|candidate| candidate.abs_diff(expected))
        .unwrap_or(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_known_by_its_lowest_bytes() {
        let eight = 0x0102_0304_0506_0708_u64.to_le_bytes();
        assert_eq!(number_near(0, &eight), 0x0102_0304_0506_0708);
        assert_eq!(number_near(256, &[255]), 255, "late by one");
        assert_eq!(number_near(255, &[1]), 257, "after two that were lost");
        assert_eq!(number_near(3, &[250]), 250, "there is none below 0");
        assert_eq!(number_near(70_000, &4_463_u16.to_le_bytes()), 69_999);
        assert_eq!(number_near(7, &[]), 7, "nothing is carried");
    }
}
