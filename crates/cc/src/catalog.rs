//! The built-in congestion controls, and what any congestion control says of itself.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::{fmt, fs};

use serde::Serialize;

use crate::bpf::BpfObject;
use crate::compile;
use crate::declarations::{Param, Series};
use crate::error::{Error, nearest};
use crate::file_name::FileName;
use crate::instance::Instance;
use crate::request::Request;

/// A congestion control compiled by `build.rs`.
pub(crate) struct BuiltIn {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) object: &'static [u8],
    /// The same compiled for BPF, if a compiler could when dumbbell was built.
    pub(crate) bpf: Option<&'static [u8]>,
}

/// A file that congestion controls include or are linked with: `cc/include`, and what several
/// of `cc/*.bpf.c` share.
pub(crate) struct Header {
    /// Relative to `cc`.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
}

// BUILT_INS and HEADERS, sorted by name; BPF_COMPILER.
include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// What a congestion control is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// This process: a shared object.
    Native,
    /// The running kernel: a BPF object.
    Bpf,
}

/// An object and the source it was made from.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    pub(crate) source: Cow<'static, str>,
    pub(crate) object: Object,
}

/// The bytes of an object.
#[derive(Clone)]
pub(crate) enum Object {
    Embedded(&'static [u8]),
    Compiled(Arc<[u8]>),
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({} bytes)", self.as_ref().len())
    }
}

impl AsRef<[u8]> for Object {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Embedded(bytes) => bytes,
            Self::Compiled(bytes) => bytes,
        }
    }
}

/// Names of the built-in congestion controls, sorted.
pub fn builtin_names() -> Vec<&'static str> {
    BUILT_INS.iter().map(|built_in| built_in.name).collect()
}

/// What a congestion control is and can be told.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// Its name in the kernel's table.
    pub name: String,
    /// One line, the first sentence of its file's header comment.
    pub title: String,
    /// Its parameters, in the order of the source.
    pub params: Vec<Param>,
    /// Its time series, in the order of the source.
    pub series: Vec<Series>,
    /// The callbacks it has, in the kernel's order.
    pub ops: Vec<&'static str>,
}

/// Describes a built-in or a file, named as in [`Request::name`].
pub fn describe(name: &str) -> Result<Description, Error> {
    let build = find(name, Target::Native)?;
    let request = Request {
        name: name.to_owned(),
        params: BTreeMap::new(),
    };
    let instance = Instance::new(&request, build.object.as_ref(), 0)?;
    Ok(Description {
        name: instance.name().to_owned(),
        title: title(&build.source),
        params: instance.declarations().params.clone(),
        series: instance.series().to_vec(),
        ops: instance.ops().present(),
    })
}

/// Compiles a file for the simulator, unless this process has; a built-in is compiled already.
pub fn precompile(name: &str) -> Result<(), Error> {
    find(name, Target::Native).map(drop)
}

/// Compiles a file for the running kernel, and reads it as far as that goes without loading it.
pub fn compile_for_kernel(name: &str) -> Result<(), Error> {
    let request = Request {
        name: name.to_owned(),
        params: BTreeMap::new(),
    };
    BpfObject::find(&request).map(drop)
}

/// The compiler that made the built-ins' BPF objects, if there was one.
pub fn bpf_compiler() -> Option<&'static str> {
    BPF_COMPILER
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
    })
}

/// One that somebody built already, in whatever language.
fn shared_object(file: &FileName<'_>, target: Target) -> Result<Build, Error> {
    if target == Target::Bpf {
        return Err(Error::Invalid {
            file: file.path.display().to_string(),
            problem: "is built for the simulator, and the kernel takes BPF only; give it the C \
                      source of a congestion control"
                .to_owned(),
        });
    }
    let object = fs::read(file.path).map_err(|source| Error::Read {
        path: file.path.to_owned(),
        source,
    })?;
    Ok(Build {
        source: Cow::Borrowed(""),
        object: Object::Compiled(object.into()),
    })
}

/// The first sentence of the first block comment that is not the licence's.
fn title(source: &str) -> String {
    let comment = source
        .split("/*")
        .skip(1)
        .filter_map(|rest| rest.split_once("*/"))
        .map(|(comment, _)| comment)
        .find(|comment| !comment.contains("SPDX-License-Identifier"));
    let lines = comment.unwrap_or_default().lines();
    let paragraph: Vec<&str> = lines
        .map(|line| line.trim().trim_start_matches('*').trim())
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph
        .split_once(". ")
        .map_or(paragraph.as_str(), |(first, _)| first);
    sentence.trim_end_matches('.').to_owned()
}
