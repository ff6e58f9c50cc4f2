//! The tin that a differentiated services codepoint leads to, and what each tin's share is.

use dumbbell_declare::choices;

choices! {
    /// How many tins there are, and which codepoints go where.
    pub enum Tins {
        /// One tin.
        besteffort,
        /// Best effort, bulk (LE, CS1) and voice (EF, VA, CS6, CS7, TOS4).
        diffserv3,
        /// Best effort, bulk (LE, CS1), video (AF2x to AF4x, CS2, CS3, TOS4) and voice (EF, VA, CS4 to CS7).
        diffserv4,
        /// Eight tins, from background to network control.
        diffserv8,
        /// Eight tins, by the three highest bits (RFC 791).
        precedence,
    }
}

/// Tins by codepoint, eight in a row, as `sch_cake` assigns them.
const DIFFSERV3: [u8; 64] = by_row([
    0o0100_2000,
    0o1000_0000,
    0,
    0,
    0,
    0o0000_2020,
    0o2000_0000,
    0o2000_0000,
]);
const DIFFSERV4: [u8; 64] = by_row([
    0o0100_2000,
    0o1000_0000,
    0o2020_2020,
    0o2020_2020,
    0o3020_2020,
    0o3000_3030,
    0o3000_0000,
    0o3000_0000,
]);
const DIFFSERV8: [u8; 64] = by_row([
    0o2012_4222,
    0o1212_1212,
    0o5242_4242,
    0o3232_3232,
    0o6232_3232,
    0o6222_6262,
    0o7222_2222,
    0o7222_2222,
]);

/// Digits of octal numbers, the first one of each row first.
const fn by_row(rows: [u32; 8]) -> [u8; 64] {
    let mut tins = [0; 64];
    let mut codepoint = 0;
    while codepoint < 64 {
        let shift = 3 * (7 - codepoint % 8);
        tins[codepoint] = (rows[codepoint / 8] >> shift & 7) as u8;
        codepoint += 1;
    }
    tins
}

impl Tins {
    /// The tin of each codepoint.
    pub(super) fn by_codepoint(self) -> [u8; 64] {
        match self {
            Self::besteffort => [0; 64],
            Self::diffserv3 => DIFFSERV3,
            Self::diffserv4 => DIFFSERV4,
            Self::diffserv8 => DIFFSERV8,
            Self::precedence => std::array::from_fn(|codepoint| (codepoint / 8) as u8),
        }
    }

    /// The share of each tin: what of the rate it has first call on, and its quantum where there is no rate.
    pub(super) fn shares(self, bytes_per_s: u64) -> Vec<(u64, i64)> {
        let parts = |shifts: &[u32]| {
            let share = |&shift: &u32| (bytes_per_s >> shift, 1024_i64 >> shift);
            shifts.iter().map(share).collect()
        };
        match self {
            Self::besteffort => vec![(bytes_per_s, 65_535)],
            Self::diffserv3 => parts(&[0, 4, 2]),
            Self::diffserv4 => parts(&[0, 4, 1, 2]),
            Self::diffserv8 | Self::precedence => {
                let first = (bytes_per_s, 256);
                let next = |&(rate, quantum): &(u64, i64)| Some((rate * 7 / 8, quantum * 7 / 8));
                std::iter::successors(Some(first), next).take(8).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2474, 2597, 3246, 5865 and 8622.
    #[test]
    fn codepoints_lead_to_the_tins_of_their_service() {
        let (best_effort, le, cs1, af11, af41, cs4, va, ef, cs6) =
            (0, 1, 8, 10, 34, 32, 44, 46, 48);
        let tin = |tins: Tins, codepoint: usize| tins.by_codepoint()[codepoint];
        for (codepoint, of_three, of_four, of_eight) in [
            (best_effort, 0, 0, 2),
            (le, 1, 1, 0),
            (cs1, 1, 1, 1),
            (af11, 0, 0, 1),
            (af41, 0, 2, 3),
            (cs4, 0, 3, 6),
            (va, 2, 3, 6),
            (ef, 2, 3, 6),
            (cs6, 2, 3, 7),
        ] {
            let found =
                [Tins::diffserv3, Tins::diffserv4, Tins::diffserv8].map(|t| tin(t, codepoint));
            assert_eq!(
                found,
                [of_three, of_four, of_eight],
                "codepoint {codepoint}"
            );
            assert_eq!(tin(Tins::precedence, codepoint), codepoint as u8 / 8);
            assert_eq!(tin(Tins::besteffort, codepoint), 0);
        }
    }

    #[test]
    fn shares_are_those_of_linux() {
        let shares = |tins: Tins| tins.shares(1 << 20);
        let mib = |part: u64| (1 << 20) / part;
        assert_eq!(
            shares(Tins::diffserv3),
            [(mib(1), 1024), (mib(16), 64), (mib(4), 256)]
        );
        let four = [(mib(1), 1024), (mib(16), 64), (mib(2), 512), (mib(4), 256)];
        assert_eq!(shares(Tins::diffserv4), four);
        let eight = shares(Tins::diffserv8);
        assert_eq!((eight.len(), eight[1]), (8, (mib(8) * 7, 224)));
    }
}
