//! Compressed captures, recognized by their first bytes.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// How a capture is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Compression {
    /// Detected from the first bytes; `None` if the file is not compressed.
    pub(super) fn recognise(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // A skippable frame, with which parallel compressors begin.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The uncompressed content of `source`, which may have several members or frames. A frame of
    /// zstd that needs more than 128 MiB of memory is rejected, as by zstd's default.
    pub(super) fn decompress(
        self,
        source: Box<dyn Read + Send>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let decoder: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(source))),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(source)?),
        };
        Ok(Box::new(InPieces { decoder }))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Output of a decoder before it finds damage within one read is lost, so reads are small.
struct InPieces {
    decoder: Box<dyn Read + Send>,
}

impl InPieces {
    const PIECE_BYTES: usize = 1 << 12;
}

impl Read for InPieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(Self::PIECE_BYTES);
        self.decoder.read(&mut buffer[..length])
    }
}
