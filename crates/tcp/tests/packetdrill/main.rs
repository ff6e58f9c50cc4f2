//! packetdrill's scripts as tests of this crate.
//!
//! packetdrill (Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from Sockets to
//! Packets", USENIX ATC 2013) tests a host's TCP by scripts: calls that an application makes,
//! packets that arrive, packets that the host must send, and when. Here an interpreter of that
//! language plays them against [`dumbbell_tcp::Sender`] and [`dumbbell_tcp::Receiver`].
//!
//! Our own scripts are in `scripts`; those in `scripts/wrong` must fail, with the words of their
//! first line. Two suites, the closest thing to a definition of Linux's TCP, are not part of this
//! project. `DUMBBELL_PACKETDRILL` names the folder of a clone of
//! <https://github.com/google/packetdrill>, `DUMBBELL_LINUX` a tree of Linux with its selftests.
//! Without one its scripts are skipped. `tests/python/packetdrill_scripts.py` plays the same scripts on
//! Linux.
//!
//! | file | what |
//! |---|---|
//! | `script`, `syntax` | a script, and how it is parsed |
//! | `assertion` | the Python between `%{` and `}%` |
//! | `settings` | sysctls and the like |
//! | `runner` | plays events at their times, compares |
//! | `host` | sockets and calls |
//! | `connection`, `byte_map` | the crate's endpoints behind a script's numbers |
//! | `times` | compares when packets leave with Linux |
//! | `scope` | which of these suites' scripts concern this crate, and which of them fail |

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
mod times;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use libtest_mimic::{Arguments, Failed, Trial};

use runner::Outcome;
use scope::{SUITES, Scope, Suite};
use script::Script;
use times::Agreement;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packetdrill/scripts");
    let trials = own_trials(&own).and_then(|mut trials| {
        for suite in &SUITES {
            match env::var_os(suite.variable) {
                Some(place) => trials.extend(suite_trials(suite, Path::new(&place), &arguments)?),
                None => trials.push(
                    Trial::test(suite.name, || Ok(()))
                        .with_kind(format!("{} is not set", suite.variable))
                        .with_ignored_flag(true),
                ),
            }
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

fn read(folder: &Path, name: &str) -> Result<String, String> {
    let path = folder.join(name).with_extension("pkt");
    fs::read_to_string(&path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

fn play(script: &Result<Script, String>) -> Outcome {
    match script {
        Ok(script) => runner::play(script, 0).0,
        Err(what) => Outcome::Unsupported(what.clone()),
    }
}

/// Our own scripts: those in `wrong` must fail with the words of their first line.
fn own_trials(folder: &Path) -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    for name in scripts(folder)? {
        let text = read(folder, &name)?;
        let outcome = play(&syntax::parse(&text));
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

/// A suite's scripts: each in scope must pass, unless it is listed; then it must fail.
fn suite_trials(suite: &Suite, place: &Path, arguments: &Arguments) -> Result<Vec<Trial>, String> {
    let folder = place.join(suite.folder);
    let names = scripts(&folder).map_err(|error| {
        let (variable, place) = (suite.variable, suite.place);
        format!("{error}; set `{variable}` to {place}, or not at all")
    })?;
    if let Some(name) = suite.unknown(&names).first() {
        return Err(format!(
            "`scope.rs` names `{name}`, which is no script there"
        ));
    }
    let mut trials = Vec::new();
    let mut table = Vec::new();
    let mut agreements = Vec::new();
    for name in names {
        let scope = suite.scope(&name);
        let called = format!("{}::{name}", suite.name);
        if let Scope::Out(reason) = scope {
            let trial = Trial::test(&called, || Ok(()));
            trials.push(trial.with_kind(reason).with_ignored_flag(true));
            table.push((called, scope, false, format!("not modelled: {reason}")));
            continue;
        }
        let script = syntax::parse(&read(&folder, &name)?);
        if let Some(agreement) = script
            .as_ref()
            .ok()
            .and_then(|script| times::compare(script, &called))
        {
            agreements.push((called.clone(), agreement));
        }
        let (passes, what) = match play(&script) {
            Outcome::Passed => (true, "passes".to_owned()),
            Outcome::Unsupported(what) => (false, format!("cannot be played: {what}")),
            Outcome::Failed(what) => (false, what),
        };
        table.push((called.clone(), scope, passes, what.clone()));
        trials.push(Trial::test(called, move || match scope {
            Scope::Fails(reason) if passes => {
                Err(format!("it passes; `scope.rs` says: {reason}").into())
            }
            Scope::Fails(_) => Ok(()),
            _ if passes => Ok(()),
            _ => Err(what.into()),
        }));
    }
    if !arguments.list {
        print_table(&table);
        print_agreements(&agreements);
    }
    Ok(trials)
}

/// How each script that was played ended, and how many in scope pass.
fn print_table(table: &[(String, Scope, bool, String)]) {
    for (name, scope, passes, what) in table {
        let mark = match (scope, passes) {
            (Scope::Out(_), _) => "out",
            (Scope::Beside, _) => "beside",
            (_, true) => "pass",
            (_, false) => "FAIL",
        };
        println!("{mark:<7} {name}: {what}");
    }
    let counted = || {
        let counts = |scope| matches!(scope, Scope::In | Scope::Fails(_));
        table.iter().filter(move |row| counts(row.1))
    };
    let (total, passed) = (counted().count(), counted().filter(|row| row.2).count());
    let tenths = (passed * 1000).checked_div(total).unwrap_or(0);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    println!("\nin scope: {passed} of {total} pass ({whole}.{tenth} %)");
}

/// How many packets leave as Linux's, where these are known.
fn print_agreements(agreements: &[(String, Agreement)]) {
    for (name, Agreement { near, all }) in agreements {
        if near < all {
            println!("times   {name}: {near} of {all} packets leave at Linux's tick");
        }
    }
    let near: usize = agreements.iter().map(|own| own.1.near).sum();
    let all: usize = agreements.iter().map(|own| own.1.all).sum();
    let exact = agreements.iter().filter(|own| own.1.near == own.1.all);
    let (exact, scripts) = (exact.count(), agreements.len());
    if scripts > 0 {
        println!("times: all packets of {exact} of {scripts} scripts, {near} of {all} packets");
    }
}
