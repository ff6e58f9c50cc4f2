//! The output of a preprocessor for a source: its text, and the files that were read.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// A source with all that it includes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Preprocessed {
    /// Without line markers, and so without paths.
    text: Vec<u8>,
    /// The files, as the compiler names them.
    pub(crate) files: BTreeSet<PathBuf>,
}

impl Preprocessed {
    /// Adds a compiler's output for `-E`.
    pub(crate) fn add(&mut self, output: &[u8]) {
        for line in output.split_inclusive(|&byte| byte == b'\n') {
            match marked_file(line) {
                None => self.text.extend(line),
                // Neither the compiler's own names, such as `<built-in>`, nor its working
                // directory.
                Some(name) if name.starts_with(b"<") || name.ends_with(b"//") => {}
                Some(name) => {
                    self.files.insert(PathBuf::from(OsString::from_vec(name)));
                }
            }
        }
    }
}

/// `mine.h` from a line marker, `# 12 "mine.h" 2`.
fn marked_file(line: &[u8]) -> Option<Vec<u8>> {
    let rest = line.strip_prefix(b"# ")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut quoted = rest[digits..].strip_prefix(b" \"")?.iter().copied();
    let mut name = Vec::new();
    loop {
        match quoted.next()? {
            b'"' => return (digits > 0).then_some(name),
            b'\\' => name.push(escaped(&mut quoted)?),
            byte => name.push(byte),
        }
    }
}

/// The byte of an escape sequence: three octal digits, or the byte itself.
fn escaped(quoted: &mut impl Iterator<Item = u8>) -> Option<u8> {
    match quoted.next()? {
        first @ b'0'..=b'3' => {
            let digit = |byte: u8| byte.wrapping_sub(b'0');
            Some(digit(first) << 6 | digit(quoted.next()?) << 3 | digit(quoted.next()?))
        }
        byte => Some(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_name_files_and_are_no_text() {
        let mut preprocessed = Preprocessed::default();
        preprocessed.add(
            br##"# 0 "a.c"
# 0 "<built-in>"
# 1 "/home/me//"
# 1 "/tmp/\"b\\\303\274.h" 1 3
int x;
#pragma GCC poison y
# 2 "a.c" 2
"##,
        );
        assert_eq!(preprocessed.text, b"int x;\n#pragma GCC poison y\n");
        let files: Vec<_> = preprocessed
            .files
            .iter()
            .map(|file| file.to_str())
            .collect();
        assert_eq!(files, [Some("/tmp/\"b\\ü.h"), Some("a.c")]);
    }
}
