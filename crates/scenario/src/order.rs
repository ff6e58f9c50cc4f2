//! Steps in order of time.

/// Refuses steps of `what` that are not in order of time.
pub(crate) fn check_order(
    what: &str,
    times_ns: impl Iterator<Item = u64> + Clone,
) -> Result<(), String> {
    let mut pairs = times_ns.clone().zip(times_ns.skip(1));
    match pairs.find(|(before_ns, after_ns)| before_ns >= after_ns) {
        Some((before_ns, after_ns)) => Err(format!(
            "the {what} step at {after_ns} ns does not come after the one at {before_ns} ns; \
             give each a later time"
        )),
        None => Ok(()),
    }
}
