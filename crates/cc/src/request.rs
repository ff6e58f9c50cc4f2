//! A request for a congestion control algorithm with parameters.

use std::collections::BTreeMap;

use crate::error::{Error, nearest};
use crate::object::declarations::Param;

/// A congestion control algorithm and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Name of a built-in, or the path of a C file: it contains `/` or ends in `.c`.
    pub name: String,
    /// Parameters that differ from their defaults.
    pub params: BTreeMap<String, i64>,
}

/// The values of all parameters, after checking the requested ones.
pub(crate) fn choose_params(
    request: &Request,
    known: &[Param],
) -> Result<BTreeMap<String, i64>, Error> {
    let mut values: BTreeMap<String, i64> = known
        .iter()
        .map(|param| (param.name.clone(), param.default))
        .collect();
    for (name, &value) in &request.params {
        let Some(param) = known.iter().find(|param| param.name == *name) else {
            return Err(Error::UnknownParam {
                cc: request.name.clone(),
                param: name.clone(),
                nearest: nearest(name, known.iter().map(|param| param.name.as_str())),
                known: known.iter().map(|param| param.name.clone()).collect(),
            });
        };
        if !(param.min..=param.max).contains(&value) {
            return Err(Error::ParamOutOfRange {
                cc: request.name.clone(),
                param: name.clone(),
                value,
                min: param.min,
                max: param.max,
                unit: param.unit.clone(),
            });
        }
        values.insert(name.clone(), value);
    }
    Ok(values)
}
