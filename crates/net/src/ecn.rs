//! The ECN field of an IP header (RFC 3168 §5).

/// What a packet says of explicit congestion notification. As wide as its neighbours in a packet:
/// a hole next to it would be copied in pieces that the processor has to wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Ecn {
    /// Not ECN-capable: congestion can only drop it.
    #[default]
    NotEct = 0b00,
    /// ECN-capable transport, ECT(1).
    Ect1 = 0b01,
    /// ECN-capable, ECT(0): what classic ECN and DCTCP send.
    Ect0 = 0b10,
    /// Congestion experienced: a queue marked it.
    Ce = 0b11,
}

impl Ecn {
    /// The two bits as the IP header has them.
    #[inline]
    pub fn bits(self) -> u8 {
        self as u8
    }

    /// From the low two bits of IPv4's TOS or IPv6's traffic class.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether a queue may mark it instead of dropping it; one that is marked stays so.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Self::NotEct
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168 §5, figure 1.
    #[test]
    fn bits_are_those_of_the_ip_header() {
        for (bits, ecn) in [
            (0b00, Ecn::NotEct),
            (0b01, Ecn::Ect1),
            (0b10, Ecn::Ect0),
            (0b11, Ecn::Ce),
        ] {
            assert_eq!((Ecn::from_bits(bits), ecn.bits()), (ecn, bits));
        }
        assert_eq!(
            Ecn::from_bits(0xb8 | 0b10),
            Ecn::Ect0,
            "DSCP does not matter"
        );
    }
}
