//! The sources of the storm (`storm.c`), laid out to be compiled with a congestion control.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::catalog::{self, Target};
use crate::compile;
use crate::compiler::find_compiler;
use crate::error::Error;
use crate::flags;
use crate::instance::Instance;
use crate::request::Request;

const STORM: &str = include_str!("storm.c");

/// How to build the storm: `COMPILER FLAGS -I include -I . -include include/vmlinux.h …`.
#[derive(Clone, Debug, Serialize)]
pub struct StormSources {
    /// The compiler's words, as `cc`.
    pub compiler: String,
    /// Flags of the native build, without warnings.
    pub flags: Vec<&'static str>,
    /// Sources that every object is linked with, relative to the directory.
    pub linked: Vec<String>,
    /// Variable of the congestion control's ops table.
    pub ops_table: String,
    /// Bytes of its `bpf_sk_storage` value.
    pub storage_bytes: usize,
}

/// Writes `storm.c` and the headers to a directory.
pub fn write_storm(name: &str, directory: &Path) -> Result<StormSources, Error> {
    let failed = |problem: String| Error::Load {
        file: name.to_owned(),
        problem,
    };
    let object = catalog::find(name, Target::Native)?.object;
    let request = Request {
        name: name.to_owned(),
        ..Request::default()
    };
    let instance = Instance::new(&request, object.as_ref(), 0)?;
    compile::write_headers_to(directory)
        .and_then(|()| fs::write(directory.join("storm.c"), STORM))
        .map_err(|error| failed(error.to_string()))?;
    Ok(StormSources {
        compiler: find_compiler().ok_or_else(|| Error::NoCompiler { path: name.into() })?,
        flags: flags::compiler(std::env::consts::ARCH),
        linked: flags::LINKED.map(|file| format!("include/{file}")).to_vec(),
        ops_table: instance.ops_table().to_owned(),
        storage_bytes: instance.declarations().storage_bytes,
    })
}
