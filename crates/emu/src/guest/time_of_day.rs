//! The time of day in a guest.

const NS_PER_S: u64 = 1_000_000_000;

/// The time of day at which a guest boots, in seconds since 1970, unless the environment says another: any, but always the same.
pub(crate) const START_S: u64 = 1_700_000_000;

/// The variable that says another, as reproducible builds have it (<https://reproducible-builds.org/specs/source-date-epoch/>): for
/// programs that check certificates.
pub(crate) const START_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// When a guest boots, in seconds since 1970.
pub(crate) fn start_s() -> u64 {
    let said = std::env::var(START_VARIABLE).ok();
    let said = said.and_then(|text| text.parse().ok());
    // Beyond a clock of 64 bits of nanoseconds.
    said.filter(|&at_s| at_s < i64::MAX as u64 / NS_PER_S)
        .unwrap_or(START_S)
}

/// The same in nanoseconds.
pub(super) fn start_ns() -> u64 {
    start_s() * NS_PER_S
}
