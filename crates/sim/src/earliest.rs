//! The earliest of eight deadlines, without a branch: which of several event sources is next
//! is as good as random, and a mispredicted branch costs more than all the comparisons.

/// Deadlines that are compared at once: a cache line of them.
pub(crate) const WIDTH: usize = 8;

/// The smallest value.
#[inline]
pub(crate) fn earliest(deadlines_ns: &[u64; WIDTH]) -> u64 {
    let [a, b, c, d, e, f, g, h] = *deadlines_ns;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

/// The index of the first that equals `due_ns`, which one must.
#[inline]
pub(crate) fn index_of(deadlines_ns: &[u64; WIDTH], due_ns: u64) -> usize {
    let mut matches = 1 << (WIDTH - 1);
    for (index, &deadline_ns) in deadlines_ns.iter().enumerate() {
        matches |= u32::from(deadline_ns == due_ns) << index;
    }
    matches.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equals_is_found() {
        for first in 0..WIDTH {
            let mut deadlines_ns = [9; WIDTH];
            deadlines_ns[first..].fill(4);
            assert_eq!(earliest(&deadlines_ns), 4);
            assert_eq!(index_of(&deadlines_ns, 4), first);
        }
    }
}
