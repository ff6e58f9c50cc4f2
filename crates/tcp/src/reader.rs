//! The application that reads what has arrived. The window does not depend on it, which is a setting; ACKs do: what has PSH is
//! acknowledged when it is read.

/// How an application reads: at once, or when enough has arrived (`SO_RCVLOWAT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Bytes at the start of the connection that it reads as they arrive.
    pub prompt_bytes: u64,
    /// Bytes that must have arrived after that before it reads.
    pub low_water_bytes: u64,
    /// Bytes that it has read.
    pub read_bytes: u64,
}

impl Reader {
    /// It reads what arrives, at once.
    pub const PROMPT: Self = Self {
        prompt_bytes: u64::MAX,
        low_water_bytes: 1,
        read_bytes: 0,
    };

    /// Whether it reads now that `received_bytes` have arrived in all.
    #[inline]
    pub(crate) fn reads(&mut self, received_bytes: u64) -> bool {
        let reads = received_bytes <= self.prompt_bytes
            || received_bytes - self.read_bytes >= self.low_water_bytes;
        if reads {
            self.read_bytes = received_bytes;
        }
        reads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_prompt_start_it_waits_for_enough() {
        let mut reader = Reader {
            prompt_bytes: 3000,
            low_water_bytes: 4000,
            read_bytes: 0,
        };
        let reads = [1448, 2896, 4344, 5792, 7240, 8688].map(|received| reader.reads(received));
        assert_eq!(reads, [true, true, false, false, true, false]);
    }
}
