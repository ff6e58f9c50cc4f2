//! The byte order of a capture file: that of the machine that wrote it.

/// The order of a number's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Little => Self::Big,
            Self::Big => Self::Little,
        }
    }

    #[inline]
    pub(super) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    #[inline]
    pub(super) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    #[inline]
    pub(super) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The first `N` 32-bit words; `None` if there are fewer.
    #[inline]
    pub(super) fn words<const N: usize>(self, bytes: &[u8]) -> Option<[u32; N]> {
        let (chunks, _) = bytes.as_chunks::<4>();
        let chunks = chunks.first_chunk::<N>()?;
        Some(chunks.map(|chunk| self.u32(chunk)))
    }
}
