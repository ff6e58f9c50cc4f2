//! What an analysis is asked for.

/// How much is kept of a capture; what is counted does not depend on it.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// Width of the series' bins; `None`: narrow at first, wider as a connection lasts.
    pub interval_ns: Option<u64>,
    /// Most bins that a direction's series has, with `interval_ns: None`.
    pub series_bins: usize,
    /// Numbers of the connections of which every packet is kept in `segments`.
    pub segments: Vec<u64>,
    /// Most rows of `segments`; what comes after is counted only.
    pub max_segment_rows: usize,
    /// Names of the capture points to look at; `None`: all.
    pub points: Option<Vec<String>>,
    /// Most views (a connection at one point) that are held at once. One more, and one is given
    /// up and counted: first of those without payload, then the oldest.
    pub max_views: usize,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self {
            interval_ns: None,
            series_bins: 512,
            segments: Vec::new(),
            max_segment_rows: 10_000_000,
            points: None,
            max_views: 1 << 16,
        }
    }
}
