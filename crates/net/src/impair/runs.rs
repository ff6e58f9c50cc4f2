//! Lengths of runs of losses, for tests.

/// How many packets were lost one after the other, each time.
pub(super) fn runs_of_losses(lost: impl Iterator<Item = bool>) -> Vec<u32> {
    let mut runs = Vec::new();
    let mut run = 0;
    for is_lost in lost.chain([false]) {
        if is_lost {
            run += 1;
        } else if run > 0 {
            runs.push(std::mem::take(&mut run));
        }
    }
    runs
}
