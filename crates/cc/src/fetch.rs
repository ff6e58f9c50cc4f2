//! Asks the processor for memory ahead of its use.
//!
//! The only `unsafe` that calls no C. A prefetch changes nothing that a program can see, and reads nothing into it: with
//! any address it is sound. Here the addresses lie in values that references prove to be there, so there is no bound to
//! check either. A load in its place would hold up all that follows until the memory is there.

/// What is fetched at once, bytes: a line of the caches of all processors with this instruction.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Asks for every line of `value` without waiting for it. Elsewhere than on x86-64 it does nothing.
#[inline(always)]
pub fn fetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        let start = std::ptr::from_ref(value).cast::<i8>();
        let bytes = size_of_val(value);
        let places = (0..bytes).step_by(LINE_BYTES).chain(bytes.checked_sub(1));
        places.for_each(|place| fetch_line(start.wrapping_add(place)));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fetch_line(address: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction takes any address, and does nothing for one that is not mapped.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_size_are_fetched_and_stay_as_they_are() {
        for bytes in [0, 1, 63, 64, 65, 4096] {
            let value: Vec<u8> = (0..bytes).map(|place| place as u8).collect();
            fetch(value.as_slice());
            fetch(&value);
            assert!((0..bytes).map(|place| place as u8).eq(value));
        }
        fetch("");
        fetch(&());
    }
}
