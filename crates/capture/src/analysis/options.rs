//! Options of an analysis.

/// How much is kept of a capture; counts do not depend on it.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// Width of the series' bins; `None`: narrow at first, wider as a connection lasts.
    pub interval_ns: Option<u64>,
    /// Largest number of bins of a direction's series, with `interval_ns: None`.
    pub series_bins: usize,
    /// Numbers of the connections whose packets are all kept in `segments`.
    pub segments: Vec<u64>,
    /// Largest number of rows of `segments`; further ones are only counted.
    pub max_segment_rows: usize,
    /// Names of the capture points to analyse; `None`: all.
    pub points: Option<Vec<String>>,
    /// Whether packets are sorted by time, within a window; otherwise they are taken as captured.
    pub sorts: bool,
    /// Names of points that saw one direction each of the same connections, and count as one point.
    pub joined_points: Vec<Vec<String>>,
    /// Largest number of views (a connection at one point) held at once. Beyond it one is given up
    /// and counted: first those without payload, then the oldest.
    pub max_views: usize,
    /// Largest memory that views hold at once, besides their segments. Beyond it, series get wider
    /// bins, and views are given up as above.
    pub max_view_bytes: usize,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self {
            interval_ns: None,
            series_bins: 512,
            segments: Vec::new(),
            max_segment_rows: 10_000_000,
            points: None,
            sorts: false,
            joined_points: Vec::new(),
            max_views: 1 << 16,
            max_view_bytes: 1 << 28,
        }
    }
}
