//! Finds the object of a congestion control algorithm: embedded, compiled from a file, or built already.

use std::borrow::Cow;

use crate::build::artifact::{Build, Object, Target};
use crate::build::build_cache::{self, Key};
use crate::build::compile;
use crate::build::embedded::{BUILT_INS, builtin_names};
use crate::build::file_name::FileName;
use crate::build::readable_sources;
use crate::error::{Error, nearest};

/// Compiles a file for the simulator unless this process has done so; a built-in is compiled
/// already.
pub fn precompile(name: &str) -> Result<(), Error> {
    find(name, Target::Native).map(drop)
}

/// Finds a built-in's object, or compiles a file.
pub(crate) fn find(name: &str, target: Target) -> Result<Build, Error> {
    if let Some(file) = FileName::parse(name) {
        return if file.is_shared_object() {
            shared_object(&file, target)
        } else {
            compile::build(file.path, target)
        };
    }
    let Some(built_in) = BUILT_INS.iter().find(|built_in| built_in.name == name) else {
        return Err(Error::UnknownCongestionControl {
            name: name.to_owned(),
            nearest: nearest(name, builtin_names()),
            known: builtin_names().into_iter().map(str::to_owned).collect(),
        });
    };
    let object = match target {
        Target::Native => built_in.object,
        Target::Bpf => built_in.bpf.ok_or_else(|| Error::NoBpfObject {
            name: name.to_owned(),
        })?,
    };
    Ok(Build {
        source: Cow::Borrowed(built_in.source),
        object: Object::Embedded(object),
        flags: Vec::new(),
    })
}

/// A shared object that was built already, in any language.
fn shared_object(file: &FileName<'_>, target: Target) -> Result<Build, Error> {
    if target == Target::Bpf {
        return Err(Error::Invalid {
            file: file.path.display().to_string(),
            problem: "is built for the simulator, but the kernel only loads BPF; use the C \
                      source of a congestion control"
                .to_owned(),
        });
    }
    let key = Key::new(file.path, target, None);
    build_cache::latest(key, || {
        let object = readable_sources::read(file.path).map_err(|source| Error::Read {
            path: file.path.to_owned(),
            source,
        })?;
        let build = Build {
            source: Cow::Borrowed(""),
            object: Object::Compiled(object.into()),
            flags: Vec::new(),
        };
        Ok((build, None)) // read again for the next run
    })
}
