//! Compiles libbpf, libelf and zlib into one archive.
//!
//! The sources are those that `libbpf-sys` ships. Its own build needs either the system's libelf
//! and zlib, which must then be on every machine that the result runs on, or autotools, gettext,
//! flex, bison and gawk; this one needs a C compiler. `libbpf-sys` without its features only names
//! the libraries to the linker, which finds them here.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// libelf's `config.h`, as its configure script writes it for glibc 2.26 or newer.
const LIBELF_CONFIG: &str = "\
#define CHECK_UNDEFINED 1
#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_MEMRCHR 1
#define HAVE_DECL_POWEROF2 1
#define HAVE_DECL_RAWMEMCHR 1
#define HAVE_DECL_REALLOCARRAY 1
#define HAVE_ERR_H 1
#define HAVE_ERROR_H 1
#define HAVE_FALLTHROUGH 1
#define HAVE_MREMAP 1
#define HAVE_VISIBILITY 1
#include <eu-config.h>
";

fn main() {
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let sources = sources_of("libbpf-sys");
    let config_dir = out_dir.join("libelf-config");
    fs::create_dir_all(&config_dir).expect("OUT_DIR is writable");
    fs::write(config_dir.join("config.h"), LIBELF_CONFIG).expect("OUT_DIR is writable");

    let zlib = sources.join("zlib");
    let elfutils = sources.join("elfutils");
    let libelf = elfutils.join("libelf");
    let libbpf = sources.join("libbpf");

    let mut objects = compiler(&sources)
        .define("HAVE_HIDDEN", None)
        .define("HAVE_UNISTD_H", None)
        .files(c_files(&zlib))
        .compile_intermediates();
    objects.extend(
        compiler(&sources)
            .define("_GNU_SOURCE", None)
            .define("HAVE_CONFIG_H", None)
            .define("PIC", None)
            .includes([&config_dir, &libelf, &elfutils.join("lib"), &zlib])
            .files(c_files(&libelf))
            .compile_intermediates(),
    );
    objects.extend(
        compiler(&sources)
            .define("_LARGEFILE64_SOURCE", None)
            .define("_FILE_OFFSET_BITS", "64")
            .includes([libbpf.join("include"), libbpf.join("include/uapi")])
            .includes([&libelf, &zlib])
            .files(c_files(&libbpf.join("src")))
            .compile_intermediates(),
    );
    // One archive, since GNU ld takes archives in order and libbpf-sys names libbpf last. It names
    // dynamic libraries, in whose place linkers take a script.
    compiler(&sources)
        .cargo_metadata(false)
        .objects(objects)
        .compile("dumbbell-bpf");
    for library in ["libelf.so", "libz.so", "libbpf.so"] {
        let script = "INPUT(libdumbbell-bpf.a)\n";
        fs::write(out_dir.join(library), script).expect("OUT_DIR is writable");
    }
    println!("cargo::rustc-link-search=native={}", out_dir.display());
    println!("cargo::rerun-if-changed=build.rs");
}

/// The compiler for the target. The sources are not ours, so their warnings are not shown. Their
/// assertions name files, which must not depend on where cargo keeps them.
fn compiler(sources: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .std("gnu11")
        .warnings(false)
        .flag("-w")
        .flag_if_supported(format!(
            "-ffile-prefix-map={}=libbpf-sys",
            sources.display()
        ));
    build
}

/// The C files of a directory, in a fixed order.
fn c_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the sources of libbpf-sys are there");
    let paths = entries.map(|entry| entry.expect("the directory is readable").path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "c"))
        .collect();
    files.sort();
    files
}

/// The directory of a dependency's sources, wherever cargo keeps them.
fn sources_of(package: &str) -> PathBuf {
    let cargo = env::var_os("CARGO").expect("cargo sets CARGO");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1"])
        .args(["--filter-platform", &target])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be run");
    assert!(
        output.status.success(),
        "`cargo metadata` failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("`cargo metadata` prints JSON");
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|found| found["name"] == package))
        .and_then(|found| found["manifest_path"].as_str())
        .unwrap_or_else(|| panic!("`cargo metadata` does not list {package}"));
    Path::new(manifest)
        .parent()
        .expect("a manifest is in a directory")
        .to_owned()
}
