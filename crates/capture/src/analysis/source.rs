//! The source of an analysis's packets.

use crate::error::Error;
use crate::packet::TcpPacket;
use crate::reader::Reader;

/// Packets in the order of a capture, and the names of its points.
pub trait PacketSource {
    /// Error of reading.
    type Error;

    /// The next packet; `None` at the end.
    fn next_packet(&mut self) -> Result<Option<TcpPacket>, Self::Error>;

    /// Name of an interface; `None` where the capture has none.
    fn point_name(&self, interface: u32) -> Option<String>;
}

impl PacketSource for Reader {
    type Error = Error;

    #[inline]
    fn next_packet(&mut self) -> Result<Option<TcpPacket>, Error> {
        self.next()
    }

    fn point_name(&self, interface: u32) -> Option<String> {
        self.interfaces().get(interface as usize)?.name.clone()
    }
}

/// Packets in memory, of one capture point or of points without names.
#[derive(Clone, Debug)]
pub struct PacketList<I>(pub I);

impl<I: Iterator<Item = TcpPacket>> PacketSource for PacketList<I> {
    type Error = std::convert::Infallible;

    fn next_packet(&mut self) -> Result<Option<TcpPacket>, Self::Error> {
        Ok(self.0.next())
    }

    fn point_name(&self, _: u32) -> Option<String> {
        None
    }
}
