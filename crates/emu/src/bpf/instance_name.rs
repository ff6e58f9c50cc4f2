//! Names under which instances are registered: unique on this machine.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::machine::kernel;

/// Longest part of the congestion control algorithm's name; with the dot and 6 digits at most 15 characters.
const KEPT_LETTERS: usize = 8;

/// A name that no other instance has, on this machine: `copa.3f9a2c`.
pub(super) fn unused(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let taken = kernel::congestion_controls();
    loop {
        // The multiplier is odd, so no two of a process are equal, and processes are far apart.
        let number = process::id()
            .wrapping_mul(0x9e_3779)
            .wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed));
        let kept = &name[..name.len().min(KEPT_LETTERS)];
        let candidate = format!("{kept}.{:06x}", number & 0xff_ffff);
        if !taken.contains(&candidate) {
            return candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_differ() {
        let names = [unused("copa"), unused("copa"), unused("a_rather_long_1")];
        assert!(names.iter().all(|name| name.len() <= 15), "{names:?}");
        assert!(names[2].starts_with("a_rather."), "{names:?}");
        assert_ne!(names[0], names[1]);
    }
}
