//! What a project's own build gives the compiler of a source: definitions and directories of headers.

use std::path::{Path, PathBuf};

use super::compile::directory_of;
use super::readable_sources;

/// Names of the kernel's build files, in the order in which it looks for them.
const NAMES: [&str; 2] = ["Kbuild", "Makefile"];
/// Variables whose flags are for every file of a directory.
const FOR_ALL: [&str; 3] = ["ccflags-y", "subdir-ccflags-y", "EXTRA_CFLAGS"];
/// Names of the directory itself.
const HERE: [&str; 5] = ["$(src)", "$(obj)", "$(M)", "$(PWD)", "$(CURDIR)"];

/// Where the build files of a source would be.
pub(crate) fn candidates(source: &Path) -> [PathBuf; 2] {
    NAMES.map(|name| directory_of(source).join(name))
}

/// Definitions and directories of headers, as flags. Of a directory only those below it count, because the compiler
/// reads no others.
pub(crate) fn flags(source: &Path) -> Vec<String> {
    let here = directory_of(source);
    let mut flags = Vec::new();
    for file in candidates(source) {
        if let Ok(text) = readable_sources::read(&file) {
            let text = String::from_utf8_lossy(&text);
            flags.extend(flags_in(&text, source, here));
        }
    }
    if here.join("include").is_dir() {
        flags.push(include_flag(&here.join("include")));
    }
    flags
}

/// The flags for a source in the text of a build file.
fn flags_in(text: &str, source: &Path, here: &Path) -> Vec<String> {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let own = format!("CFLAGS_{stem}.o");
    let joined = text.replace("\\\n", " ");
    let mut flags = Vec::new();
    for line in joined.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let name = name.trim_end_matches([':', '+', '?', ' ', '\t']).trim();
        if name != own && !FOR_ALL.contains(&name) {
            continue;
        }
        let mut words = value.split_whitespace().map(str::to_owned);
        while let Some(word) = words.next() {
            let (option, rest) = word.split_at(word.len().min(2));
            if !matches!(option, "-D" | "-U" | "-I") {
                continue;
            }
            let argument = match rest {
                "" => words.next().unwrap_or_default(),
                _ => rest.to_owned(),
            };
            flags.extend(flag(option, &argument.replace(['"', '\''], ""), here));
        }
    }
    flags
}

fn flag(option: &str, argument: &str, here: &Path) -> Option<String> {
    if option != "-I" {
        return (!argument.contains("$(")).then(|| format!("{option}{argument}"));
    }
    let below = HERE.iter().find_map(|name| argument.strip_prefix(name));
    let path = below.unwrap_or(argument).trim_start_matches('/');
    let is_elsewhere = below.is_none() && argument.starts_with('/');
    let is_above = path.split('/').any(|part| part == "..");
    if is_elsewhere || is_above || path.contains("$(") {
        return None;
    }
    Some(include_flag(&here.join(path)))
}

fn include_flag(directory: &Path) -> String {
    format!("-I{}", directory.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_and_headers_are_read_and_nothing_else() {
        let text = "
obj-m := own.o
CFLAGS_own.o := -DBETA=717 -O3 \\
    -D NAME='x' -I$(src)/inc   # and more
CFLAGS_other.o := -DOTHER
ccflags-y += -I include -Werror -I/usr/include -I../above -I$(srctree)/x -DV=$(V)
all:
\tmake -C /lib/modules M=$(PWD)
";
        let found = flags_in(text, Path::new("/a/own.c"), Path::new("/a"));
        assert_eq!(
            found,
            ["-DBETA=717", "-DNAME=x", "-I/a/inc", "-I/a/include"]
        );
    }
}
