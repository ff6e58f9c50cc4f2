//! Compiles every `cc/*.bpf.c` natively, and for BPF if a compiler can, and writes the table
//! of built-ins, with the text of their sources and of what these include, for `src/build/embedded.rs`.

#[path = "src/build/bpf_compiler.rs"]
mod bpf_compiler;
#[path = "src/build/flags.rs"]
mod flags;
#[path = "src/build/python.rs"]
mod python;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::{env, io};

use bpf_compiler::BpfCompiler;

const SUFFIX: &str = ".bpf.c";

fn main() {
    let cc_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cc");
    let cc_dir = cc_dir
        .canonicalize()
        .expect("cc/ lies two levels above crates/cc");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed={}", cc_dir.display());
    println!("cargo::rerun-if-changed=src/build/flags.rs");
    println!("cargo::rerun-if-changed=src/build/bpf_compiler.rs");
    println!("cargo::rerun-if-changed=src/build/python.rs");
    println!("cargo::rerun-if-env-changed=CLANG");

    let bpf_compiler = BpfCompiler::find(&out_dir);
    if bpf_compiler.as_ref().is_none_or(BpfCompiler::is_zig) {
        println!("cargo::rerun-if-env-changed=VIRTUAL_ENV");
    }
    let mut sources = files_below(&cc_dir, false).expect("cc/ is readable");
    sources.retain(|source| is_congestion_control(source));
    let mut table = format!(
        "pub(crate) static BUILT_INS: [BuiltIn; {}] = [\n",
        sources.len()
    );
    for source in sources {
        let name = file_name(&source).trim_end_matches(SUFFIX);
        let object = out_dir.join(format!("{name}.so"));
        compile(&cc_dir, &source, &object);
        let mut bpf = String::from("None");
        if let Some(compiler) = &bpf_compiler {
            let object = out_dir.join(format!("{name}.bpf.o"));
            compile_bpf(compiler, &cc_dir, &source, &object);
            bpf = format!("Some(Embedded::new(include_bytes!({object:?})))");
        }
        writeln!(
            table,
            "    BuiltIn {{ name: {name:?}, source: include_str!({source:?}), object: Embedded::new(include_bytes!({object:?})), bpf: {bpf} }},"
        )
        .expect("writing to a String succeeds");
    }
    let version = bpf_compiler.map(|compiler| compiler.version());
    write!(
        table,
        "];\n\npub(crate) static BPF_COMPILER: Option<&str> = {version:?};\n"
    )
    .expect("writing to a String succeeds");
    table.push_str("\npub(crate) static HEADERS: &[Header] = &[\n");
    for header in files_below(&cc_dir, true).expect("cc/ is readable") {
        let path = header.strip_prefix(&cc_dir).expect("found below it");
        if is_congestion_control(path) {
            continue;
        }
        writeln!(
            table,
            "    Header {{ path: {path:?}, text: include_str!({header:?}) }},"
        )
        .expect("writing to a String succeeds");
    }
    table.push_str("];\n");
    fs::write(out_dir.join("catalog.rs"), table).expect("OUT_DIR is writable");
}

fn file_name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// Every other C file is there to be included or linked.
fn is_congestion_control(path: &Path) -> bool {
    file_name(path).ends_with(SUFFIX)
}

/// Files of a directory in a fixed order, without what editors leave behind.
fn files_below(dir: &Path, recursive: bool) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && recursive {
            files.extend(files_below(&path, true)?);
        } else if path
            .extension()
            .is_some_and(|suffix| suffix == "c" || suffix == "h")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn compile(cc_dir: &Path, source: &Path, object: &Path) {
    let include = cc_dir.join("include");
    let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the target");
    // The flags are ours alone, so that an object depends on the compiler and the sources only.
    let status = cc::Build::new()
        .no_default_flags(true)
        .get_compiler()
        .to_command()
        .args(flags::compiler(&arch))
        .args(flags::OUR_WARNINGS)
        .args(flags::LINKER)
        .arg("-I")
        .arg(&include)
        .arg("-o")
        .arg(object)
        .arg(source)
        .args(flags::LINKED.map(|file| include.join(file)))
        .status()
        .expect("a C compiler is installed");
    assert!(status.success(), "{} does not compile", source.display());
}

fn compile_bpf(compiler: &BpfCompiler, cc_dir: &Path, source: &Path, object: &Path) {
    let status = compiler
        .command()
        .args(flags::OUR_WARNINGS)
        // Line information names the file as the repository does, wherever it was built.
        .arg(format!("-ffile-prefix-map={}=cc", cc_dir.display()))
        .arg("-I")
        .arg(cc_dir.join("include"))
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .status()
        .expect("the compiler was just asked");
    assert!(
        status.success(),
        "{} does not compile for BPF",
        source.display()
    );
}
