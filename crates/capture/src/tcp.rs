//! TCP headers of captured packets (RFC 9293 §3.1) and their options.

use crate::dissect::Unread;
use crate::packet::{SackBlocks, TcpFlags};

/// Bytes of a header without options.
pub(crate) const HEADER_BYTES_MIN: usize = 20;

/// The fields of a TCP header.
pub(crate) struct TcpHeader {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: TcpFlags,
    pub(crate) window: u16,
    /// Its length, with options.
    pub(crate) bytes: usize,
    pub(crate) options: TcpOptions,
}

/// Options of a TCP header.
#[derive(Default)]
pub(crate) struct TcpOptions {
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) sack: SackBlocks,
}

impl TcpHeader {
    /// Parses the captured part of a segment that was `segment_bytes` long. Options may be cut.
    #[inline]
    pub(crate) fn parse(segment: &[u8], segment_bytes: usize) -> Result<Self, Unread> {
        let Some((header, behind)) = segment.split_first_chunk::<HEADER_BYTES_MIN>() else {
            return Err(if segment_bytes < HEADER_BYTES_MIN {
                Unread::BadLength
            } else {
                Unread::CutHeader
            });
        };
        let &[
            p0,
            p1,
            p2,
            p3,
            s0,
            s1,
            s2,
            s3,
            a0,
            a1,
            a2,
            a3,
            offset,
            flags,
            w0,
            w1,
            ..,
        ] = header;
        let bytes = usize::from(offset >> 4) * 4;
        if bytes < HEADER_BYTES_MIN || bytes > segment_bytes {
            return Err(Unread::BadLength);
        }
        let options = &behind[..behind.len().min(bytes - HEADER_BYTES_MIN)];
        Ok(Self {
            source_port: u16::from_be_bytes([p0, p1]),
            destination_port: u16::from_be_bytes([p2, p3]),
            seq: u32::from_be_bytes([s0, s1, s2, s3]),
            ack: u32::from_be_bytes([a0, a1, a2, a3]),
            flags: TcpFlags(u16::from_be_bytes([offset & 1, flags])),
            window: u16::from_be_bytes([w0, w1]),
            bytes,
            options: TcpOptions::parse(options),
        })
    }
}

impl TcpOptions {
    /// Reads options up to their end, or up to one that is cut or has an invalid length.
    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        let mut options = Self::default();
        let mut rest = bytes;
        // The options of most packets (RFC 7323, appendix A).
        if let &[1, 1, 8, 10, v0, v1, v2, v3, e0, e1, e2, e3, ref behind @ ..] = rest {
            options.timestamps = Some(timestamps([v0, v1, v2, v3, e0, e1, e2, e3]));
            rest = behind;
        }
        while let Some((&kind, behind)) = rest.split_first() {
            match kind {
                0 => break,
                1 => rest = behind,
                _ => {
                    let length = usize::from(behind.first().copied().unwrap_or_default());
                    if length < 2 {
                        break;
                    }
                    let Some((option, behind)) = rest.split_at_checked(length) else {
                        break;
                    };
                    options.set(kind, &option[2..]);
                    rest = behind;
                }
            }
        }
        options
    }

    fn set(&mut self, kind: u8, value: &[u8]) {
        match (kind, value) {
            (2, &[m0, m1]) => self.mss = Some(u16::from_be_bytes([m0, m1])),
            // More than 14 counts as 14 (RFC 7323 §2.3).
            (3, &[shift]) => self.window_scale = Some(shift.min(14)),
            (4, &[]) => self.sack_permitted = true,
            (5, blocks) => {
                let (blocks, _) = blocks.as_chunks::<8>();
                for &[s0, s1, s2, s3, e0, e1, e2, e3] in blocks {
                    let start = u32::from_be_bytes([s0, s1, s2, s3]);
                    let end = u32::from_be_bytes([e0, e1, e2, e3]);
                    self.sack.push(start, end);
                }
            }
            (8, value) => {
                if let Ok(value) = <[u8; 8]>::try_from(value) {
                    self.timestamps = Some(timestamps(value));
                }
            }
            _ => {}
        }
    }
}

/// TSval and TSecr.
#[inline]
fn timestamps([v0, v1, v2, v3, e0, e1, e2, e3]: [u8; 8]) -> (u32, u32) {
    (
        u32::from_be_bytes([v0, v1, v2, v3]),
        u32::from_be_bytes([e0, e1, e2, e3]),
    )
}
