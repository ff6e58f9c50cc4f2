//! Packets on the path: bytes in buffers that are reused.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use dumbbell_net::{ETHERNET_HEADER_BYTES, Ecn, Header, PureAck, SackOrder};
use dumbbell_scenario::Way;
use dumbbell_wire::ip::{host_numbers, set_ecn, traffic_class};

use crate::packet::pure_ack::{pure_ack, sack_order};
use crate::packet::rewrite::{End, datagram_ends, garble_datagram, set_datagram_end};
use crate::packet::super_packet::{NEEDS_CSUM, VNET_HEADER_BYTES};

/// Buffers of one size. A run starts with as many as its path may hold, so that nothing is
/// allocated while packets flow; if they are not enough, more are made.
#[derive(Debug)]
pub(crate) struct Pool {
    buffer_bytes: usize,
    free: Mutex<Vec<Box<[u8]>>>,
}

impl Pool {
    /// A pool of `buffers` buffers of `buffer_bytes` each.
    pub(crate) fn new(buffer_bytes: usize, buffers: usize) -> Arc<Self> {
        // Written once, so that no page fault occurs when the first packet arrives.
        let buffer = || vec![0xff; buffer_bytes].into_boxed_slice();
        Arc::new(Self {
            buffer_bytes,
            free: Mutex::new((0..buffers).map(|_| buffer()).collect()),
        })
    }

    /// A buffer with arbitrary content.
    #[inline]
    pub(crate) fn take(self: &Arc<Self>) -> Buffer {
        let bytes = self.lock().pop();
        Buffer {
            bytes: bytes.unwrap_or_else(|| vec![0; self.buffer_bytes].into_boxed_slice()),
            pool: Arc::clone(self),
        }
    }

    #[inline]
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Box<[u8]>>> {
        // One thread uses a pool, until its frames are passed on at the end of the run.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A buffer, which returns to its pool when it is dropped.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) bytes: Box<[u8]>,
    pool: Arc<Pool>,
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.pool.lock().push(bytes);
    }
}

/// The role of a packet in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It carries data of a flow.
    Data,
    /// A datagram of a flow.
    Datagram,
    /// A packet of a flow without data: SYN, ACK, FIN; of programs anything that is neither TCP nor a whole datagram of UDP.
    Control,
    /// A packet of no flow: sent by calibration.
    Other,
}

/// A route of a group: the host where packets enter, and the one where they leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupRoute {
    pub(crate) group: u16,
    pub(crate) way: Way,
}

/// A packet preceded by its virtio-net header, and its route.
#[derive(Debug)]
pub(crate) struct Frame {
    /// `None` in a copy that was made for the record.
    buffer: Option<Buffer>,
    /// Bytes in the buffer that are the packet.
    bytes: u16,
    pub(crate) group: u16,
    pub(crate) way: Way,
    kind: Kind,
    /// Number of the flow in the scenario, the same for all connections of an application; `u32::MAX`: none.
    pub(crate) flow: u32,
    /// A program sent it: its payload may be anything, and not the zeros that our senders send.
    pub(crate) is_of_program: bool,
}

impl Frame {
    /// The packet in the first `bytes` of `buffer`, of a flow.
    #[inline]
    pub(crate) fn new(
        buffer: Buffer,
        bytes: usize,
        route: GroupRoute,
        kind: Kind,
        flow: u32,
    ) -> Self {
        Self {
            buffer: Some(buffer),
            bytes: bytes as u16,
            group: route.group,
            way: route.way,
            kind,
            flow,
            is_of_program: false,
        }
    }

    /// The packet, preceded by its virtio-net header.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer
            .as_ref()
            .map_or(&[], |buffer| &buffer.bytes[..usize::from(self.bytes)])
    }

    /// The IP packet.
    #[inline]
    pub(crate) fn packet(&self) -> &[u8] {
        self.bytes().get(VNET_HEADER_BYTES..).unwrap_or(&[])
    }

    /// Whether its transport's checksum is left to the network card.
    #[inline]
    pub(crate) fn needs_checksum(&self) -> bool {
        self.bytes()
            .first()
            .is_some_and(|flags| flags & NEEDS_CSUM != 0)
    }

    /// The IP header's ECN field.
    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        traffic_class(self.packet()).map_or(Ecn::NotEct, Ecn::from_bits)
    }

    /// Writes the ECN field into the IP header: a queue marked the packet, or an impairment changed it.
    pub(crate) fn set_ecn(&mut self, ecn: Ecn) {
        if let Some(buffer) = &mut self.buffer
            && let Some(ip) = buffer.bytes.get_mut(VNET_HEADER_BYTES..)
        {
            set_ecn(ip, ecn.bits());
        }
    }

    /// Source and destination, if it is a whole datagram of UDP.
    pub(crate) fn datagram_ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        datagram_ends(self.packet())
    }

    /// Writes another source or destination into a whole datagram of UDP.
    pub(crate) fn set_datagram_end(&mut self, end: End, to: SocketAddr) {
        let is_partial = self.needs_checksum();
        if let Some(packet) = self.packet_mut() {
            set_datagram_end(packet, end, to, is_partial);
        }
    }

    /// The IP packet, to be changed.
    fn packet_mut(&mut self) -> Option<&mut [u8]> {
        let bytes = usize::from(self.bytes);
        let buffer = self.buffer.as_mut()?;
        buffer.bytes.get_mut(VNET_HEADER_BYTES..bytes)
    }

    /// Turns ECT(0) into ECT(1). For TCP alone: datagrams have the codepoint that their application chose.
    pub(crate) fn identify_as_l4s(&mut self) {
        if self.ecn() == Ecn::Ect0
            && let Some(buffer) = &mut self.buffer
            && let Some(ip) = buffer.bytes.get_mut(VNET_HEADER_BYTES..)
        {
            set_ecn(ip, Ecn::Ect1.bits());
        }
    }

    /// Whether it is a TCP segment with data.
    #[inline]
    pub(crate) fn is_segment(&self) -> bool {
        self.kind == Kind::Data
    }

    /// Whether it belongs to a flow; then it is TCP or a datagram.
    #[inline]
    pub(crate) fn is_of_flow(&self) -> bool {
        self.kind != Kind::Other
    }

    /// Its size on a wire, bytes: an Ethernet header instead of the virtio-net header.
    #[inline]
    pub(crate) fn wire_bytes(&self) -> u32 {
        u32::from(self.bytes) - VNET_HEADER_BYTES as u32 + ETHERNET_HEADER_BYTES
    }
}

/// A copy without the bytes, for what only looks at packets.
impl Clone for Frame {
    fn clone(&self) -> Self {
        Self {
            buffer: None,
            bytes: self.bytes,
            group: self.group,
            way: self.way,
            kind: self.kind,
            flow: self.flow,
            is_of_program: self.is_of_program,
        }
    }
}

impl Header for Frame {
    #[inline]
    fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Datagram)
    }

    #[inline]
    fn is_forward(&self) -> bool {
        self.way == Way::There
    }

    #[inline]
    fn pure_ack(&self) -> Option<PureAck> {
        match self.kind {
            Kind::Control => pure_ack(self.packet()),
            _ => None,
        }
    }

    fn sack_order(&self, earlier: &Self) -> SackOrder {
        sack_order(self.packet(), earlier.packet())
    }

    #[inline]
    fn hosts(&self) -> Option<(u32, u32)> {
        host_numbers(self.packet())
    }

    #[inline]
    fn dscp(&self) -> Option<u8> {
        traffic_class(self.packet()).map(|class| class >> 2)
    }

    fn ip_packet(&self) -> &[u8] {
        self.packet()
    }

    fn garble(&mut self, draw: u64) -> bool {
        let is_partial = self.needs_checksum();
        if let Some(packet) = self.packet_mut() {
            garble_datagram(packet, draw, is_partial);
        }
        true
    }

    /// With the bytes, in a buffer of the same pool.
    fn copy(&self) -> Self {
        let buffer = self.buffer.as_ref().map(|buffer| {
            let mut copy = buffer.pool.take();
            copy.bytes[..usize::from(self.bytes)].copy_from_slice(self.bytes());
            copy
        });
        Self {
            buffer,
            ..self.clone()
        }
    }
}

/// From the sender of group 0.
#[cfg(test)]
const TEST_ROUTE: GroupRoute = GroupRoute {
    group: 0,
    way: Way::There,
};

/// A data packet of group 0 with timestamps and this payload, zeros.
#[cfg(test)]
pub(crate) fn test_frame(payload_bytes: u16) -> Frame {
    use dumbbell_wire::tcp::TcpFlags;

    use crate::packet::test_packets;

    let times = [1, 1, 8, 10, 9, 9, 9, 9, 8, 8, 8, 8];
    let payload = vec![0; usize::from(payload_bytes)];
    let segment = test_packets::segment(TcpFlags::ACK, &times, &payload);
    let packet = [&[0; VNET_HEADER_BYTES], &segment[..]].concat();
    let mut buffer = Pool::new(packet.len(), 1).take();
    buffer.bytes.copy_from_slice(&packet);
    Frame::new(buffer, packet.len(), TEST_ROUTE, Kind::Data, 0)
}

/// The same as a packet of the network.
#[cfg(test)]
pub(crate) fn test_packet(payload_bytes: u16) -> dumbbell_net::Packet<Frame> {
    let frame = test_frame(payload_bytes);
    dumbbell_net::Packet {
        flow: 0,
        wire_bytes: frame.wire_bytes(),
        ecn: frame.ecn(),
        hop: 0,
        arrived_ns: 0,
        header: frame,
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_wire::bytes::{put_u16, read_u16};
    use dumbbell_wire::ipv4;

    use super::*;

    #[test]
    fn buffers_come_back() {
        let pool = Pool::new(100, 1);
        let first = pool.take();
        let address = first.bytes.as_ptr();
        let second = pool.take();
        assert_eq!(second.bytes.len(), 100, "a pool that is empty makes more");
        drop(first);
        assert_eq!(pool.take().bytes.as_ptr(), address);
    }

    #[test]
    fn a_change_of_the_ecn_field_changes_the_checksum() {
        let fields = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (tos, ecn) in [0b10, 0b01, 0xb8 | 0b10, 0b11, 0]
            .into_iter()
            .flat_map(|tos| fields.map(|ecn| (tos, ecn)))
        {
            for id in [0_u16, 7, 0xffff, 0x1234] {
                let mut frame = test_frame(100);
                let header = VNET_HEADER_BYTES..VNET_HEADER_BYTES + 20;
                let bytes = &mut frame.buffer.as_mut().expect("a buffer").bytes[header];
                bytes[ipv4::TOS] = tos;
                bytes[4..6].copy_from_slice(&id.to_be_bytes());
                let checksum = ipv4::checksum(bytes);
                put_u16(bytes, ipv4::CHECKSUM, checksum);
                frame.set_ecn(ecn);
                let ip = &frame.packet()[..20];
                assert_eq!(
                    (frame.ecn(), ip[ipv4::TOS]),
                    (ecn, tos & !0b11 | ecn.bits())
                );
                assert_eq!(read_u16(ip, ipv4::CHECKSUM), ipv4::checksum(ip));
            }
        }
    }

    #[test]
    fn hosts_and_dscp_are_those_of_the_ip_header() {
        let mut frame = test_frame(0);
        assert_eq!(frame.hosts(), Some((0x0a00_0001, 0x0a00_0002)));
        assert_eq!(frame.dscp(), Some(0));
        frame.buffer.as_mut().expect("a buffer").bytes[VNET_HEADER_BYTES + ipv4::TOS] = 46 << 2 | 3;
        assert_eq!(frame.dscp(), Some(46));
        assert_eq!(frame.pure_ack(), None, "data");
        frame.kind = Kind::Control;
        let ack = frame.pure_ack().expect("a pure ACK");
        assert_eq!(
            (ack.number, ack.ts_val, ack.ts_ecr),
            (0x0506_0708, 0x0909_0909, 0x0808_0808)
        );
        assert_eq!(frame.sack_order(&frame), SackOrder::Same);
    }

    #[test]
    fn only_ect0_becomes_ect1() {
        for (before, after) in [(0b10, 0b01), (0b01, 0b01), (0, 0), (0b11, 0b11)] {
            let mut frame = test_frame(100);
            let header = VNET_HEADER_BYTES..VNET_HEADER_BYTES + 20;
            let bytes = &mut frame.buffer.as_mut().expect("a buffer").bytes[header];
            bytes[ipv4::TOS] = 0xb8 | before;
            let checksum = ipv4::checksum(bytes);
            put_u16(bytes, ipv4::CHECKSUM, checksum);
            frame.identify_as_l4s();
            let ip = &frame.packet()[..20];
            assert_eq!(ip[ipv4::TOS], 0xb8 | after);
            assert_eq!(read_u16(ip, ipv4::CHECKSUM), ipv4::checksum(ip));
        }
    }

    #[test]
    fn a_copy_for_the_record_has_no_bytes() {
        let mut buffer = Pool::new(100, 1).take();
        buffer.bytes[..3].copy_from_slice(b"abc");
        let frame = Frame::new(buffer, 3, TEST_ROUTE, Kind::Data, 0);
        assert_eq!(frame.bytes(), b"abc");
        let copy = frame.clone();
        assert_eq!(
            (copy.bytes(), copy.group, copy.is_data()),
            (&b""[..], 0, true)
        );
    }

    #[test]
    fn a_duplicate_has_bytes_of_its_own() {
        let frame = test_frame(100);
        let mut copy = frame.copy();
        assert_eq!((copy.bytes(), copy.flow), (frame.bytes(), frame.flow));
        copy.set_ecn(Ecn::Ce);
        assert_eq!((copy.ecn(), frame.ecn()), (Ecn::Ce, Ecn::NotEct));
    }
}
