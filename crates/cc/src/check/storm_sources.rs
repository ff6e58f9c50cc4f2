//! The sources of the storm (`storm.c`), laid out to be compiled with a congestion control algorithm.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::build::artifact::Target;
use crate::build::compile;
use crate::build::compiler::find_compiler;
use crate::build::file_name::FileName;
use crate::build::find::find;
use crate::build::{flags, kernel_headers, kernel_module};
use crate::error::Error;
use crate::host::field_watch::PROTECTED;
use crate::host::mapping::REGISTERED;
use crate::object::declaration_reader::read_declarations;
use crate::object::declarations::Param;
use crate::object::elf::Elf;
use crate::object::ops_choice;

/// The driver, `storm.c`, and what it includes.
const FILES: [(&str, &str); 9] = [
    ("acks.h", include_str!("storm/acks.h")),
    ("calls.h", include_str!("storm/calls.h")),
    ("draws.h", include_str!("storm/draws.h")),
    ("flow.h", include_str!("storm/flow.h")),
    ("libc.h", include_str!("storm/libc.h")),
    ("reports.h", include_str!("storm/reports.h")),
    ("sender.h", include_str!("storm/sender.h")),
    ("settings.h", include_str!("storm/settings.h")),
    ("storm.c", include_str!("storm/storm.c")),
];
const NEEDS_HELPERS: &str = "bpf_tcp_helpers.h";

/// How to build the storm in its directory: the driver and each unit by itself, then all of them
/// linked with the sources that every object is linked with.
#[derive(Clone, Debug, Serialize)]
pub struct StormSources {
    /// The compiler's command, as words.
    pub compiler: Vec<String>,
    /// Flags of the native build, without warnings.
    pub flags: Vec<&'static str>,
    /// Flags of the driver.
    pub driver_flags: Vec<String>,
    /// The congestion control algorithm, and the modules whose functions it uses.
    pub units: Vec<StormUnit>,
    /// What is linked, relative to the directory, and with which flags.
    pub linked: Vec<String>,
    /// Flags of what is linked.
    pub linked_flags: Vec<String>,
    /// Flags of units and of what is linked, to be tried one after the other.
    pub variants: Vec<Vec<String>>,
    /// Whether it is a kernel module.
    pub is_module: bool,
    /// Bytes of its `bpf_sk_storage` value.
    pub storage_bytes: usize,
    /// Parameters that the source declares.
    pub params: Vec<Param>,
    /// Fields of the socket that BPF may not write, with their offsets.
    pub protected: Vec<(&'static str, usize)>,
}

/// A source of the congestion control algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct StormUnit {
    /// File of the source.
    pub source: PathBuf,
    /// Its own flags.
    pub flags: Vec<String>,
}

/// Writes `storm.c` and the headers to a directory. Nothing of the congestion control algorithm is loaded.
pub fn write_storm(name: &str, directory: &Path) -> Result<StormSources, Error> {
    let failed = |problem: String| Error::Load {
        file: name.to_owned(),
        problem,
    };
    let invalid = |problem: String| Error::Invalid {
        file: name.to_owned(),
        problem,
    };
    let build = find(name, Target::Native)?;
    let elf = Elf::parse(build.object.as_ref()).map_err(invalid)?;
    let declarations = read_declarations(&elf).map_err(invalid)?;
    let file = FileName::parse(name);
    let path = file.as_ref().map_or(Path::new(name), |file| file.path);
    let path = fs::canonicalize(path).map_err(|error| failed(error.to_string()))?;
    let is_module = elf.size(REGISTERED).is_some();
    write(directory, is_module, &declarations.params).map_err(|error| failed(error.to_string()))?;
    let sources = if is_module {
        of_module(&path, &build.source, &build.flags)
    } else {
        let wanted = file.as_ref().and_then(|file| file.table);
        let check = |table: &str| elf.linked_ops_image(table)?.check().map(|_| ());
        let table = ops_choice::choose(&elf, wanted, check).map_err(invalid)?;
        of_bpf(&path, &build.source, table)
    };
    Ok(StormSources {
        compiler: find_compiler().ok_or_else(|| Error::NoCompiler { path: name.into() })?,
        storage_bytes: declarations.storage_bytes,
        params: declarations.params,
        ..sources
    })
}

fn write(directory: &Path, is_module: bool, params: &[Param]) -> std::io::Result<()> {
    compile::write_headers_to(directory)?;
    if is_module {
        kernel_headers::write_below(&directory.join("include/linux-module"))?;
    }
    for (file, text) in FILES {
        fs::write(directory.join(file), text)?;
    }
    fs::write(directory.join("params.h"), params_header(params))
}

/// The table of parameters. Their variables may have the same names as the storm's functions.
fn params_header(params: &[Param]) -> String {
    let (mut variables, mut rows) = (String::new(), String::new());
    for (index, param) in params.iter().enumerate() {
        // Writing to a String succeeds.
        let _ = writeln!(
            variables,
            "extern u8 storm_param_{index}[] __asm__(\"{}\");",
            param.variable
        );
        let _ = writeln!(
            rows,
            "\t{{ \"{}\", storm_param_{index}, {} }},",
            param.name, param.size
        );
    }
    format!("{variables}static struct param params[] = {{\n{rows}\t{{ }},\n}};\n")
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn sources() -> StormSources {
    StormSources {
        compiler: Vec::new(),
        flags: flags::compiler(std::env::consts::ARCH),
        driver_flags: words(&["-I", "include"]),
        units: Vec::new(),
        linked: flags::LINKED.map(|file| format!("include/{file}")).to_vec(),
        linked_flags: words(&["-I", "include"]),
        variants: vec![Vec::new()],
        is_module: false,
        storage_bytes: 0,
        params: Vec::new(),
        protected: PROTECTED.to_vec(),
    }
}

/// Sources built in the same way as `compile.rs` builds a BPF source for a run.
fn of_bpf(path: &Path, source: &str, ops_table: &str) -> StormSources {
    let mut own = words(&["-I", "include", "-I", ".", "-include", "include/vmlinux.h"]);
    if source.contains(NEEDS_HELPERS) {
        own.extend(["-include".to_owned(), format!("include/{NEEDS_HELPERS}")]);
    }
    let mut all = sources();
    all.driver_flags.push(format!("-DOPS_TABLE={ops_table}"));
    all.units.push(StormUnit {
        source: path.to_owned(),
        flags: own,
    });
    all
}

/// Sources built in the same way as `compile.rs` builds a kernel module for a run.
fn of_module(path: &Path, source: &str, flags: &[String]) -> StormSources {
    let mut own = words(&kernel_module::FLAGS);
    own.extend(words(&["-I", "include/linux-module", "-I"]));
    own.push(compile::directory_of(path).display().to_string());
    let dependency = [own.clone(), vec![kernel_module::DEPENDENCY.to_owned()]].concat();
    let mut all = sources();
    all.driver_flags.push("-DSTORM_OF_MODULE".to_owned());
    all.linked_flags = [own.clone(), words(&["-I", "include"])].concat();
    all.linked
        .push(format!("include/{}", kernel_module::LINKED));
    all.variants = vec![flags.to_vec()];
    all.is_module = true;
    all.units.push(StormUnit {
        source: path.to_owned(),
        flags: own,
    });
    let others = kernel_module::dependencies(path, source).into_iter();
    all.units.extend(others.map(|source| StormUnit {
        source,
        flags: dependency.clone(),
    }));
    all
}
