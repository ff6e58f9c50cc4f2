//! Compiling a hostile source.

use std::fs;
use std::path::Path;

use dumbbell_cc::precompile;

use crate::skipped;

const PROBE: &str = include_str!("../cc/probe.bpf.c");

/// The error for a source with these lines added, in a directory.
fn refusal(dir: &Path, lines: &str) -> String {
    let path = dir.join("mine.bpf.c");
    fs::write(&path, format!("{PROBE}\n{lines}\n")).unwrap();
    match precompile(path.to_str().unwrap()) {
        Ok(()) => panic!("compiled: {lines}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn files_outside_are_not_read() {
    if skipped("files_outside_are_not_read") {
        return;
    }
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outside = outside.path().join("secret.h");
    fs::write(&outside, "int secret;\n").unwrap();
    std::os::unix::fs::symlink(&outside, dir.path().join("link.h")).unwrap();
    for file in [
        "/etc/passwd",
        "/dev/zero",
        outside.to_str().unwrap(),
        "link.h",
    ] {
        let message = refusal(dir.path(), &format!("#include \"{file}\""));
        assert!(
            message.contains("cannot be read: a compiler reads the sources"),
            "{message}"
        );
        assert_eq!(message.lines().count(), 2, "{message}");
    }
    let message = refusal(dir.path(), "asm(\".incbin \\\"/etc/passwd\\\"\");");
    assert!(
        message.contains("`/etc/passwd` cannot be read"),
        "{message}"
    );
}

#[test]
fn only_regular_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let message = refusal(dir.path(), "#include \"/dev/stdin\"");
    assert!(
        message.contains("includes `/dev/stdin`, which is not a regular file"),
        "{message}"
    );
    // What a line marker names is read by nobody.
    let message = refusal(dir.path(), "# 1 \"/dev/zero\"");
    assert!(
        message.contains("includes `/dev/zero`, which is not a regular file"),
        "{message}"
    );
    let pipe = dir.path().join("pipe.h");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    if !skipped("only_regular_files_are_read") {
        let message = refusal(dir.path(), "#include \"pipe.h\"");
        assert!(message.contains("pipe.h` cannot be read"), "{message}");
    }
    let source = dir.path().join("pipe.bpf.c");
    fs::rename(pipe, &source).unwrap();
    let error = precompile(source.to_str().unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("it is not a regular file"), "{error}");
}

#[test]
fn headers_beside_the_file_are_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("below")).unwrap();
    fs::write(dir.path().join("own.h"), "#include \"below/values.inc\"\n").unwrap();
    fs::write(dir.path().join("below/values.inc"), "int value = 1;\n").unwrap();
    let path = dir.path().join("mine.bpf.c");
    fs::write(&path, format!("{PROBE}\n#include \"own.h\"\n")).unwrap();
    precompile(path.to_str().unwrap()).unwrap();
}

#[test]
fn what_would_run_by_itself_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let begin = "static volatile int began; static void begin(void) { began = 1; }\n";
    for (lines, what) in [
        (
            "__attribute__((constructor)) static void begin(void);",
            "constructor `begin`",
        ),
        (
            "__attribute__((destructor)) static void begin(void);",
            "destructor `begin`",
        ),
        (
            "int _init(void) { begin(); return 0; }",
            "constructor `_init`",
        ),
        ("void _fini(void) { begin(); }", "destructor `_fini`"),
        (
            "asm(\".section .init_array,\\\"aw\\\"\\n.quad 0\\n.text\");",
            "constructor,",
        ),
        (
            "static void *pick(void) { begin(); return begin; }\n\
             void chosen(void) __attribute__((ifunc(\"pick\")));",
            "resolver `",
        ),
    ] {
        let message = refusal(dir.path(), &format!("{begin}{lines}"));
        assert!(
            message.contains(&format!("has a {what}")),
            "{lines}: {message}"
        );
        assert!(message.contains("move its work to `init`"), "{message}");
    }
}
