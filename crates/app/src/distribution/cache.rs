//! Flow sizes of a cache.

use dumbbell_declare::settings;

use super::points::Points;
use super::{DistributionSettings, Quantiles, tables};

settings! {
    /// Flow sizes of a cache in a data centre of Facebook, mean 342 bytes.
    pub struct Config {}
}

impl DistributionSettings for Config {
    fn quantiles(&self) -> Box<dyn Quantiles> {
        Box::new(Points {
            points: tables::CACHE.into(),
        })
    }
}
