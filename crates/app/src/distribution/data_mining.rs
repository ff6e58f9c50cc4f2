//! Flow sizes of data mining.

use dumbbell_declare::settings;

use super::points::Points;
use super::{DistributionSettings, Quantiles, tables};

settings! {
    /// Flow sizes of data mining in a data centre, mean 12.7 MB (Greenberg et al. 2009).
    pub struct Config {}
}

impl DistributionSettings for Config {
    fn quantiles(&self) -> Box<dyn Quantiles> {
        Box::new(Points {
            points: tables::DATA_MINING.into(),
        })
    }
}
