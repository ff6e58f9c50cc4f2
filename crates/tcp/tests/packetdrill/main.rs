//! packetdrill's scripts as tests of this crate.
//!
//! packetdrill (Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from Sockets to
//! Packets", USENIX ATC 2013) tests a host's TCP by scripts: calls that an application makes,
//! packets that arrive, packets that the host must send, and when. Here an interpreter of that
//! language plays them against [`dumbbell_tcp::Sender`] and [`dumbbell_tcp::Receiver`].
//!
//! Our own scripts are in `scripts`; those in `scripts/wrong` must fail, with the words of their
//! first line. Google's, which are the closest thing to a definition of Linux's TCP, are not part
//! of this project: `DUMBBELL_PACKETDRILL` names the folder of a clone of
//! <https://github.com/google/packetdrill>. Without it they are skipped.
//!
//! | file | what |
//! |---|---|
//! | `script`, `syntax` | a script, and how it is parsed |
//! | `assertion` | the Python between `%{` and `}%` |
//! | `settings` | sysctls and the like |
//! | `runner` | plays events at their times, compares |
//! | `host` | sockets and calls |
//! | `connection`, `byte_map` | the crate's endpoints behind a script's numbers |
//! | `scope` | which of Google's scripts concern this crate, and which of them fail |

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test harness of its own shows its results"
)]

mod assertion;
mod byte_map;
mod connection;
mod host;
mod runner;
mod scope;
mod script;
mod settings;
mod syntax;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use libtest_mimic::{Arguments, Failed, Trial};

use runner::Outcome;
use scope::Scope;

/// Where Google's scripts are.
const VARIABLE: &str = "DUMBBELL_PACKETDRILL";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packetdrill/scripts");
    let trials = own_trials(&own).and_then(|mut trials| {
        match env::var_os(VARIABLE) {
            Some(clone) => trials.extend(google_trials(&PathBuf::from(clone), &arguments)?),
            None => trials.push(
                Trial::test("google", || Ok(()))
                    .with_kind(format!("{VARIABLE} is not set"))
                    .with_ignored_flag(true),
            ),
        }
        Ok(trials)
    });
    match trials {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// All scripts below `folder`, by their path in it without the suffix.
fn scripts(folder: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let cannot_read = |error: io::Error| format!("cannot read `{}`: {error}", next.display());
        for entry in fs::read_dir(&next).map_err(cannot_read)? {
            let path = entry.map_err(cannot_read)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "pkt") {
                let name = path
                    .strip_prefix(folder)
                    .unwrap_or(&path)
                    .with_extension("");
                found.push(name.display().to_string());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn play(folder: &Path, name: &str) -> Result<(String, Outcome), String> {
    let path = folder.join(name).with_extension("pkt");
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let outcome = match syntax::parse(&text) {
        Ok(script) => runner::play(&script),
        Err(what) => Outcome::Unsupported(what),
    };
    Ok((text, outcome))
}

/// Our own scripts: those in `wrong` must fail with the words of their first line.
fn own_trials(folder: &Path) -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    for name in scripts(folder)? {
        let (text, outcome) = play(folder, &name)?;
        let first_line = text.lines().next().unwrap_or_default();
        let wanted = match name.strip_prefix("wrong/") {
            Some(_) => first_line.trim_start_matches("//").trim().to_owned(),
            None => String::new(),
        };
        trials.push(Trial::test(format!("own::{name}"), move || {
            let (Outcome::Failed(said) | Outcome::Unsupported(said)) = outcome else {
                return same(&wanted, "");
            };
            same(&wanted, &said)
        }));
    }
    Ok(trials)
}

fn same(wanted: &str, said: &str) -> Result<(), Failed> {
    if wanted == said {
        return Ok(());
    }
    Err(format!("it should say `{wanted}`, it says `{said}`").into())
}

/// Google's scripts: each in scope must pass, unless it is listed; then it must fail.
fn google_trials(clone: &Path, arguments: &Arguments) -> Result<Vec<Trial>, String> {
    let folder = clone.join("gtests/net/tcp");
    let names = scripts(&folder).map_err(|error| {
        format!("{error}; set `{VARIABLE}` to a clone of google/packetdrill, or not at all")
    })?;
    if let Some(name) = scope::unknown(&names).first() {
        return Err(format!(
            "`scope.rs` names `{name}`, which is no script there"
        ));
    }
    let mut trials = Vec::new();
    let mut table = Vec::new();
    for name in names {
        let scope = scope::of(&name);
        if let Scope::Out(reason) = scope {
            let trial = Trial::test(format!("google::{name}"), || Ok(()));
            trials.push(trial.with_kind(reason).with_ignored_flag(true));
            continue;
        }
        let (_, outcome) = play(&folder, &name)?;
        let (passes, what) = match outcome {
            Outcome::Passed => (true, "passes".to_owned()),
            Outcome::Unsupported(what) => (false, format!("cannot be played: {what}")),
            Outcome::Failed(what) => (false, what),
        };
        table.push((name.clone(), scope, passes, what.clone()));
        trials.push(Trial::test(
            format!("google::{name}"),
            move || match scope {
                Scope::Fails(reason) if passes => {
                    Err(format!("it passes; `scope.rs` says: {reason}").into())
                }
                Scope::Fails(_) => Ok(()),
                _ if passes => Ok(()),
                _ => Err(what.into()),
            },
        ));
    }
    if !arguments.list {
        print_table(&table);
    }
    Ok(trials)
}

/// How each script that was played ended, and how many in scope pass.
fn print_table(table: &[(String, Scope, bool, String)]) {
    for (name, scope, passes, what) in table {
        let mark = match (scope, passes) {
            (Scope::Beside, _) => "beside",
            (_, true) => "pass",
            (_, false) => "FAIL",
        };
        println!("{mark:<7} {name}: {what}");
    }
    let counted = || table.iter().filter(|row| row.1 != Scope::Beside);
    let (total, passed) = (counted().count(), counted().filter(|row| row.2).count());
    let tenths = (passed * 1000).checked_div(total).unwrap_or(0);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    println!("\nin scope: {passed} of {total} pass ({whole}.{tenth} %)");
}
