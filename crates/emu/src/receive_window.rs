//! Receive windows that Linux reaches.

use dumbbell_scenario::Scenario;

/// The scenario, with receive windows of at most four times what the group's path holds. While its window
/// still grows, Linux acknowledges every packet at once (measured: 1.00 ACKs per packet with a
/// window of 1 GiB, for minutes), and its own tuning of the window would slow the start of a flow.
pub(crate) fn with_reachable_windows(scenario: Scenario) -> Scenario {
    scenario.with_windows_reduced(0)
}
