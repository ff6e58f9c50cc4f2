//! What a run leaves behind.

use crate::summary::Summary;
use crate::table::Table;

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Output {
    /// Counts and means.
    pub summary: Summary,
    /// Time series: `flows`, `queue`, `queue_by_group` and `state-<group>-<cc>`; none when sampling is off. And
    /// `transfers`, where a group has an application.
    pub tables: Vec<Table>,
}
