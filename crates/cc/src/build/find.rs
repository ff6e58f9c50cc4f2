//! Finds the object of a congestion control algorithm: embedded, or compiled from a file.

use std::borrow::Cow;

use crate::build::artifact::{Build, Object, Target};
use crate::build::compile;
use crate::build::embedded::{BUILT_INS, builtin_names};
use crate::build::file_name::FileName;
use crate::error::{Error, nearest};

/// Compiles a file for the simulator unless this process has done so; a built-in is compiled
/// already.
pub fn precompile(name: &str) -> Result<(), Error> {
    find(name, Target::Native).map(drop)
}

/// Finds a built-in's object, or compiles a file.
pub(crate) fn find(name: &str, target: Target) -> Result<Build, Error> {
    if let Some(file) = FileName::parse(name) {
        return compile::build(file.path, target);
    }
    let Some(built_in) = BUILT_INS.iter().find(|built_in| built_in.name == name) else {
        return Err(Error::UnknownCongestionControl {
            name: name.to_owned(),
            nearest: nearest(name, builtin_names()),
            known: builtin_names().into_iter().map(str::to_owned).collect(),
        });
    };
    let object = match target {
        Target::Native => &built_in.object,
        Target::Bpf => built_in.bpf.as_ref().ok_or_else(|| Error::NoBpfObject {
            name: name.to_owned(),
        })?,
    };
    Ok(Build {
        source: Cow::Borrowed(built_in.source),
        object: Object::Embedded(object),
        flags: Vec::new(),
    })
}
