//! Time stamps in an interface's units (options if_tsresol and if_tsoffset of pcapng, §4.2).

const NS_PER_S: u64 = 1_000_000_000;

/// How ticks become nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    unit: Unit,
    /// Added to every time stamp, s.
    offset_s: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// A tick is this many ns.
    Nanoseconds(u64),
    /// This many ticks are a ns.
    PerNanosecond(u128),
    /// A tick is 2^-n s.
    BinaryFraction(u32),
}

impl Clock {
    pub(super) const MICROSECONDS: Self = Self {
        unit: Unit::Nanoseconds(1000),
        offset_s: 0,
    };
    pub(super) const NANOSECONDS: Self = Self {
        unit: Unit::Nanoseconds(1),
        offset_s: 0,
    };

    /// Sets the resolution from option if_tsresol: a negative power of 10, or of 2 if the highest bit is set.
    pub(super) fn set_resolution(&mut self, code: u8) {
        let exponent = u32::from(code & 0x7f);
        self.unit = if code & 0x80 != 0 {
            Unit::BinaryFraction(exponent)
        } else if exponent <= 9 {
            Unit::Nanoseconds(10_u64.pow(9 - exponent))
        } else {
            // 64 bits of such fine ticks never add up to a nanosecond.
            Unit::PerNanosecond(10_u128.checked_pow(exponent - 9).unwrap_or(u128::MAX))
        };
    }

    pub(super) fn set_offset_s(&mut self, offset_s: i64) {
        self.offset_s = offset_s;
    }

    /// Times before 1970 become 0, after 2554 the largest number.
    #[inline]
    pub(super) fn time_ns(&self, ticks: u64) -> u64 {
        let time_ns = match self.unit {
            Unit::Nanoseconds(ns) => ticks.saturating_mul(ns),
            Unit::PerNanosecond(ticks_per_ns) => saturate(u128::from(ticks) / ticks_per_ns),
            Unit::BinaryFraction(exponent) => {
                saturate((u128::from(ticks) * u128::from(NS_PER_S)) >> exponent)
            }
        };
        if self.offset_s == 0 {
            return time_ns;
        }
        let time_ns = i128::from(time_ns) + i128::from(self.offset_s) * i128::from(NS_PER_S);
        u64::try_from(time_ns.max(0)).unwrap_or(u64::MAX)
    }
}

fn saturate(time_ns: u128) -> u64 {
    u64::try_from(time_ns).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_every_resolution_are_nanoseconds() {
        let table = [
            // (if_tsresol, ticks, ns)
            (0, 3, 3_000_000_000),
            (3, 1_500, 1_500_000_000),
            (6, 7, 7_000),
            (9, 7, 7),
            (12, 7_999, 7),
            (28, u64::MAX, 1),
            (29, u64::MAX, 0),
            (127, u64::MAX, 0),
            (0x80, 2, 2_000_000_000),
            (0x80 | 10, 1_536, 1_500_000_000),
            (0x80 | 32, 1 << 31, 500_000_000),
            (0x80 | 63, 1 << 62, 500_000_000),
            (0x80 | 127, u64::MAX, 0),
        ];
        for (code, ticks, expected_ns) in table {
            let mut clock = Clock::MICROSECONDS;
            clock.set_resolution(code);
            assert_eq!(clock.time_ns(ticks), expected_ns, "if_tsresol {code:#x}");
        }
    }

    #[test]
    fn offsets_are_added_and_never_wrap() {
        let table = [
            (0, 5, 5),
            (1_700_000_000, 5, 1_700_000_000_000_000_005),
            (-1, 1_000_000_005, 5),
            (-2, 1_000_000_005, 0),
            (i64::MAX, 5, u64::MAX),
            (i64::MIN, u64::MAX, 0),
        ];
        for (offset_s, ticks, expected_ns) in table {
            let mut clock = Clock::NANOSECONDS;
            clock.set_offset_s(offset_s);
            assert_eq!(clock.time_ns(ticks), expected_ns, "if_tsoffset {offset_s}");
        }
    }

    #[test]
    fn absurdly_late_ticks_saturate() {
        let mut clock = Clock::NANOSECONDS;
        clock.set_resolution(0);
        assert_eq!(clock.time_ns(u64::MAX), u64::MAX);
        clock.set_resolution(0x80);
        assert_eq!(clock.time_ns(u64::MAX), u64::MAX);
    }
}
