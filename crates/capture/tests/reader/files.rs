//! Capture files, built byte by byte.

/// The order of a number's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Little,
    Big,
}

pub(crate) const ORDERS: [Order; 2] = [Order::Little, Order::Big];

impl Order {
    pub(crate) fn u16(self, number: u16) -> [u8; 2] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    pub(crate) fn u32(self, number: u32) -> [u8; 4] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    pub(crate) fn u64(self, number: u64) -> [u8; 8] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }
}

pub(crate) const MICROSECONDS: u32 = 0xa1b2_c3d4;
pub(crate) const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// A pcap file.
pub(crate) struct Pcap {
    pub(crate) order: Order,
    pub(crate) bytes: Vec<u8>,
}

impl Pcap {
    pub(crate) fn new(order: Order, magic: u32, link_type: u32) -> Self {
        let mut bytes = Vec::new();
        bytes.extend(order.u32(magic));
        bytes.extend(order.u16(2));
        bytes.extend(order.u16(4));
        for word in [0, 0, 262_144, link_type] {
            bytes.extend(order.u32(word));
        }
        Self { order, bytes }
    }

    pub(crate) fn packet(mut self, seconds: u32, fraction: u32, frame: &[u8]) -> Self {
        let length = frame.len() as u32;
        self.record([seconds, fraction, length, length], frame);
        self
    }

    /// A record with an arbitrary header.
    pub(crate) fn record(&mut self, header: [u32; 4], frame: &[u8]) {
        for word in header {
            self.bytes.extend(self.order.u32(word));
        }
        self.bytes.extend(frame);
    }
}

/// A little-endian µs pcap file of frames, one a second.
pub(crate) fn pcap(link_type: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    let file = Pcap::new(Order::Little, MICROSECONDS, link_type);
    let frames = frames.iter().zip(1..);
    frames
        .fold(file, |file, (frame, second)| file.packet(second, 0, frame))
        .bytes
}

/// A pcapng file.
pub(crate) struct Pcapng {
    order: Order,
    pub(crate) bytes: Vec<u8>,
}

/// Code and value of an option.
pub(crate) type BlockOption<'a> = (u16, &'a [u8]);

impl Pcapng {
    /// A file with one section.
    pub(crate) fn new(order: Order) -> Self {
        let file = Self {
            order,
            bytes: Vec::new(),
        };
        file.section(order)
    }

    pub(crate) fn section(mut self, order: Order) -> Self {
        self.order = order;
        let mut body = order.u32(0x1a2b_3c4d).to_vec();
        body.extend(order.u16(1));
        body.extend(order.u16(0));
        body.extend(order.u64(u64::MAX));
        body.extend(self.options(&[(4, b"a test")]));
        self.block(0x0a0d_0d0a, &body)
    }

    pub(crate) fn interface(
        self,
        link_type: u16,
        snap_bytes: u32,
        options: &[BlockOption<'_>],
    ) -> Self {
        let mut body = self.order.u16(link_type).to_vec();
        body.extend([0; 2]);
        body.extend(self.order.u32(snap_bytes));
        body.extend(self.options(options));
        self.block(1, &body)
    }

    /// An enhanced packet block.
    pub(crate) fn packet(
        self,
        interface: u32,
        ticks: u64,
        frame: &[u8],
        options: &[BlockOption<'_>],
    ) -> Self {
        let interface = self.order.u32(interface);
        self.packet_block(6, &interface, ticks, frame, options)
    }

    /// The obsolete packet block.
    pub(crate) fn old_packet(self, interface: u16, ticks: u64, frame: &[u8]) -> Self {
        let drops = 3;
        let interface = [self.order.u16(interface), self.order.u16(drops)].concat();
        self.packet_block(2, &interface, ticks, frame, &[])
    }

    fn packet_block(
        self,
        kind: u32,
        interface: &[u8],
        ticks: u64,
        frame: &[u8],
        options: &[BlockOption<'_>],
    ) -> Self {
        let length = frame.len() as u32;
        let mut body = interface.to_vec();
        for word in [(ticks >> 32) as u32, ticks as u32, length, length] {
            body.extend(self.order.u32(word));
        }
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend(self.options(options));
        self.block(kind, &body)
    }

    pub(crate) fn simple_packet(self, wire_bytes: u32, captured: &[u8]) -> Self {
        let mut body = self.order.u32(wire_bytes).to_vec();
        body.extend(captured);
        self.block(3, &body)
    }

    pub(crate) fn statistics(self, interface: u32, options: &[BlockOption<'_>]) -> Self {
        let mut body = self.order.u32(interface).to_vec();
        body.extend([0; 8]);
        body.extend(self.options(options));
        self.block(5, &body)
    }

    pub(crate) fn block(mut self, kind: u32, body: &[u8]) -> Self {
        let length = self.order.u32(body.len().next_multiple_of(4) as u32 + 12);
        self.bytes.extend(self.order.u32(kind));
        self.bytes.extend(length);
        self.bytes.extend(body);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.bytes.extend(length);
        self
    }

    fn options(&self, options: &[BlockOption<'_>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (code, value) in options {
            bytes.extend(self.order.u16(*code));
            bytes.extend(self.order.u16(value.len() as u16));
            bytes.extend(*value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        if !options.is_empty() {
            bytes.extend([0; 4]);
        }
        bytes
    }
}
