//! Sequence numbers without wrapping: 64-bit offsets whose low half is the number on the wire.

/// Where offsets start: far enough above zero that a number half the space lower still fits.
const FIRST_LAP: u64 = 1 << 32;

/// The largest plausible step: the largest window (RFC 7323 §2.3).
pub(crate) const MAX_WINDOW_BYTES: u64 = 1 << 30;

/// The offset of the first number seen.
#[inline]
pub(crate) fn first_offset(seq: u32) -> u64 {
    FIRST_LAP + u64::from(seq)
}

/// The offset of `seq` that is nearest to `reference`.
#[inline]
pub(crate) fn unwrap(reference: u64, seq: u32) -> u64 {
    let delta = seq.wrapping_sub(reference as u32).cast_signed();
    reference.wrapping_add_signed(i64::from(delta))
}

/// Whether `a` is before `b` on the circle of 2^32 (RFC 7323 §5.2 for timestamps).
#[inline]
pub(crate) fn is_before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_go_on_across_the_wrap() {
        let before = first_offset(u32::MAX - 9);
        let after = unwrap(before, 10);
        assert_eq!(after - before, 20);
        assert_eq!(unwrap(after, u32::MAX - 9), before, "and back");
    }

    #[test]
    fn a_number_below_the_first_has_an_offset_too() {
        let first = first_offset(5);
        assert_eq!(first - unwrap(first, 5u32.wrapping_sub(1 << 30)), 1 << 30);
    }

    #[test]
    fn order_of_wrapped_timestamps() {
        assert!(is_before(u32::MAX, 0));
        assert!(!is_before(0, u32::MAX));
        assert!(!is_before(7, 7));
    }
}
