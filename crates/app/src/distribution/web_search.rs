//! Flow sizes of web search.

use dumbbell_declare::settings;

use super::points::Points;
use super::{DistributionSettings, Quantiles, tables};

settings! {
    /// Flow sizes of web search in a data centre, mean 1.71 MB (Alizadeh et al. 2010).
    pub struct Config {}
}

impl DistributionSettings for Config {
    fn quantiles(&self) -> Box<dyn Quantiles> {
        Box::new(Points {
            points: tables::WEB_SEARCH.into(),
        })
    }
}
