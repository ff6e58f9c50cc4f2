//! A digest that identifies a build. It guards against mistakes, not against malice.

use crate::build::embedded::HEADERS;

/// Digest of an object and of the headers it was built with, hexadecimal.
pub(crate) fn digest(object: &[u8]) -> String {
    let mut digest = Digest::new();
    digest.add(object);
    for header in HEADERS {
        digest
            .add(header.path.as_bytes())
            .add(header.text.as_bytes());
    }
    digest.hex()
}

/// FNV-1a of 128 bits (RFC 9923 §5), fed part by part.
struct Digest(u128);

impl Digest {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a part and its length, so that different lists of parts differ in the digest.
    fn add(&mut self, part: &[u8]) -> &mut Self {
        for &byte in (part.len() as u64).to_le_bytes().iter().chain(part) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul((1 << 88) + 0x13b);
        }
        self
    }

    fn hex(&self) -> String {
        format!("{:032x}", self.0)
    }
}
