//! What the thread of the applications does beside them.

use super::live::LiveUsers;
use crate::error::Error;

/// Something with times of its own, which count from the start of the run.
pub(crate) trait Beside: Send {
    /// When it is due next; `u64::MAX`: never.
    fn next_ns(&self) -> u64;

    /// Does what is due now, whenever the thread has woken. Whether the run goes on.
    fn look(&mut self, now_ns: u64, users: &LiveUsers) -> Result<bool, Error>;
}
