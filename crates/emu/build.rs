//! Compiles `bpf/*.bpf.c` for the kernel engine's own use of BPF, if a compiler can.

#[path = "../cc/src/build/bpf_compiler.rs"]
mod bpf_compiler;
#[path = "../cc/src/build/python.rs"]
mod python;

use std::path::{Path, PathBuf};
use std::{env, fs};

use bpf_compiler::BpfCompiler;

fn main() {
    let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = manifest_dir.join("bpf/socket_state.bpf.c");
    let include = manifest_dir.join("../../cc/include");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let object = out_dir.join("socket_state.bpf.o");
    for path in [&source, &include] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rerun-if-changed=../cc/src/build/bpf_compiler.rs");
    println!("cargo::rerun-if-changed=../cc/src/build/python.rs");
    println!("cargo::rerun-if-env-changed=CLANG");
    let compiler = BpfCompiler::find(&out_dir);
    if compiler.as_ref().is_none_or(BpfCompiler::is_zig) {
        println!("cargo::rerun-if-env-changed=VIRTUAL_ENV");
    }
    let Some(compiler) = compiler else {
        // No congestion control of ours is there either, whose state there would be to read.
        fs::write(&object, []).expect("OUT_DIR is writable");
        return;
    };
    let status = compiler
        .command()
        .arg(format!("-ffile-prefix-map={}=emu", manifest_dir.display()))
        .arg("-I")
        .arg(&include)
        .arg("-c")
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .status()
        .expect("the compiler was just asked");
    assert!(
        status.success(),
        "{} does not compile for BPF",
        source.display()
    );
}
