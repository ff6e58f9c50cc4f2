//! Receive windows that Linux reaches.

use dumbbell_scenario::Scenario;

/// The scenario, with no receive window larger than what would not limit a flow. While its window
/// still grows, Linux acknowledges every packet at once (measured: 1.00 ACKs per packet with a
/// window of 1 GiB, for minutes), and its own tuning of the window would slow the start of a flow.
pub(crate) fn with_reachable_windows(mut scenario: Scenario) -> Scenario {
    let ample_bytes = scenario.ample_window_bytes();
    // Programs have windows of their own.
    for group in (scenario.groups.iter_mut()).filter(|group| group.program.is_none()) {
        group.rwnd_bytes = group.rwnd_bytes.min(ample_bytes);
    }
    scenario
}
