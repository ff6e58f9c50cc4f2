//! Queue disciplines of the guest's kernel: how its `tc` is to make each.

use std::env;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use dumbbell_declare::{Changed, Unit};
use dumbbell_scenario::{Limit, Link, Queue, Scenario};

use crate::error::Error;

/// Where iproute2 is, apart from the directories of `PATH`.
const SYSTEM_DIRECTORIES: [&str; 2] = ["/usr/sbin", "/sbin"];

/// A queue discipline that the guest's kernel is to make at a device of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedQdisc {
    /// The link whose queue it is.
    pub link: u32,
    /// The program that makes it.
    pub program: CString,
    /// That program's arguments, its name first.
    pub words: Vec<CString>,
    /// What makes it, for people.
    pub command: String,
    /// The name of that device.
    pub device: CString,
}

/// The disciplines of a scenario's links that are the kernel's.
///
/// # Errors
///
/// One that Linux's `tc` cannot make with these settings, or there is no `tc`.
pub(super) fn planned(scenario: &Scenario) -> Result<Vec<PlannedQdisc>, Error> {
    let links = (0..).zip(&scenario.links);
    let of_kernel =
        links.filter_map(|(number, link)| Some((number, link, link.queue.of_kernel()?)));
    of_kernel
        .map(|(number, link, queue)| {
            let device = format!("link{number}");
            let tc = text(find_tc()?.as_os_str().as_bytes());
            let words = ["tc", "qdisc", "add", "dev", &device, "root", queue.name()];
            let mut words: Vec<String> = words.map(str::to_owned).to_vec();
            let script = script(queue, &device)?;
            if script.is_none() {
                words.extend(self::words(link, queue)?);
            }
            let command = words.join(" ");
            let (program, words) = match script {
                Some(script) => {
                    let words = ["sh", "-c", &script].map(|word| text(word.as_bytes()));
                    (text(b"/bin/sh"), [words.as_slice(), &[tc]].concat())
                }
                None => (tc, words.iter().map(|word| text(word.as_bytes())).collect()),
            };
            Ok(PlannedQdisc {
                link: number,
                program,
                words,
                command,
                device: text(device.as_bytes()),
            })
        })
        .collect()
}

/// Nothing here has a zero byte.
fn text(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_default()
}

fn find_tc() -> Result<PathBuf, Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&path).chain(SYSTEM_DIRECTORIES.map(PathBuf::from));
    let mut files = directories.map(|directory| directory.join("tc"));
    files.find(|file| Path::is_file(file)).ok_or_else(|| {
        Error::Refused(
            "a queue of the kernel is made by `tc`, which is not installed; install iproute2"
                .to_owned(),
        )
    })
}

/// A shell's commands where `tc` has to be called more than once; `$0` is `tc`. DRR has classes, of which a hash of the flow
/// chooses one (tc-drr(8), tc-flow(8)).
fn script(queue: &Queue, dev: &str) -> Result<Option<String>, Error> {
    /// A class's number has 16 bits, and 0 is the discipline's own.
    const MOST_CLASSES: u64 = 65_535;
    let Queue::drr(drr) = queue else {
        return Ok(None);
    };
    let (classes, limit) = (drr.classes, drr.limit_pkts);
    let [quantum] = drr.quantum_bytes[..] else {
        return Err(no_word(
            queue,
            "a hash gives classes no order, so they have one `quantum`",
        ));
    };
    if classes > MOST_CLASSES {
        return Err(no_word(
            queue,
            &format!("Linux has at most {MOST_CLASSES} `classes`"),
        ));
    }
    let keys = "src,dst,proto,proto-src,proto-dst";
    Ok(Some(format!(
        "i=1
        {{
            echo qdisc add dev {dev} root handle 1: drr
            echo filter add dev {dev} parent 1: protocol all prio 1 handle 1 flow hash keys {keys} divisor {classes} baseclass 1:1
            while [ $i -le {classes} ]; do
                printf 'class add dev {dev} parent 1: classid 1:%x drr quantum {quantum}\\n' $i
                printf 'qdisc add dev {dev} parent 1:%x pfifo limit {limit}\\n' $i
                i=$((i + 1))
            done
        }} | \"$0\" -batch -"
    )))
}

/// The settings as `tc` takes them (tc-fq_codel(8) and the others): our names are its own, but for those here.
fn words(link: &Link, queue: &Queue) -> Result<Vec<String>, Error> {
    let mut words = match queue {
        // `tc` makes its thresholds and its average from these.
        Queue::red(red) => {
            let number = |name: &str, value: u64| [name.to_owned(), value.to_string()];
            let mut words = number("limit", red.limit_bytes).to_vec();
            words.extend(number("avpkt", red.avpkt_bytes));
            words.extend(["bandwidth".to_owned(), format!("{}bit", link.link_rate_bps)]);
            words
        }
        Queue::cake(_) => Vec::new(),
        Queue::tbf(tbf) if tbf.peakrate_bps.is_some() => {
            return Err(no_word(queue, "`peakrate` needs the `mtu` of `tc`"));
        }
        Queue::tbf(tbf) if tbf.latency_ns.is_some() => Vec::new(),
        _ => {
            let limit = match queue.limit() {
                Limit::Bytes(limit) | Limit::Packets(limit) => limit,
            };
            vec!["limit".to_owned(), limit.to_string()]
        }
    };
    for changed in queue.changed() {
        let name = changed.parameter.name;
        match (queue, name) {
            (Queue::cake(_), "limit") => words.extend(value("memlimit", &changed)),
            (Queue::cake(_), "rate") => words.extend(value("bandwidth", &changed)),
            (Queue::tbf(_), "latency") => words.extend(value(name, &changed)),
            (_, "limit") | (Queue::red(_), "avpkt") => {}
            (Queue::cake(_), _) => words.extend(cakes(queue, &changed)?),
            (Queue::dualpi2(_), _) => words.extend(dualpi2s(&changed)),
            (Queue::fq(_), "flows") => words.extend(value("buckets", &changed)),
            (Queue::red(_), "gentle") => return Err(no_word(queue, "Linux has no `gentle`")),
            (Queue::sfq(_), "perturb") => words.extend(whole_seconds(queue, &changed)?),
            // Linux's has none.
            (Queue::fq(_), "perfect_hash") => {}
            (_, "perfect_hash") => return Err(no_word(queue, "Linux's hash is not perfect")),
            (Queue::codel(_) | Queue::fq_codel(_), "mtu" | "ce_threshold_l4s")
            | (Queue::fq(_), "weights") => {
                return Err(no_word(queue, &format!("`tc` has no `{name}`")));
            }
            _ => words.extend(value(name, &changed)),
        }
    }
    Ok(words)
}

fn no_word(queue: &Queue, why: &str) -> Error {
    let name = queue.name();
    Error::Refused(format!(
        "queue `kernel:{name}` cannot be made: {why}; use `{name}`, which is ours"
    ))
}

/// A parameter with its value. One that is off is left out: that is how `tc` turns it off.
fn value(name: &str, changed: &Changed) -> Vec<String> {
    let Some(number) = changed.number else {
        return Vec::new();
    };
    let shown = match changed.parameter.unit {
        Unit::Flag if number == 1 => return vec![name.to_owned()],
        // iproute2: `noecn`, `nobytemode`.
        Unit::Flag => return vec![format!("no{name}")],
        // Parts of a microsecond are possible.
        Unit::Ns => format!("{}us", number as f64 / 1e3),
        Unit::Bps => format!("{number}bit"),
        Unit::Ppb => format!("{}", number as f64 / 1e9),
        _ => number.to_string(),
    };
    vec![name.to_owned(), shown]
}

/// A time of whole seconds, as tc-sfq(8) takes it.
fn whole_seconds(queue: &Queue, changed: &Changed) -> Result<Vec<String>, Error> {
    const NS_PER_S: u64 = 1_000_000_000;
    let name = changed.parameter.name;
    match changed.number {
        Some(ns) if ns % NS_PER_S == 0 => Ok(vec![name.to_owned(), (ns / NS_PER_S).to_string()]),
        _ => Err(no_word(queue, &format!("`{name}` has whole seconds"))),
    }
}

/// DualPI2's words (iproute2 6.17's `q_dualpi2.c`): weights are numbers, of which ours are 256ths.
fn dualpi2s(changed: &Changed) -> Vec<String> {
    let (name, number) = (changed.parameter.name, changed.number.unwrap_or(0));
    let either = |word: &str, other: &str| vec![if number == 1 { word } else { other }.to_owned()];
    match name {
        "memory_limit" => vec!["memlimit".to_owned(), number.to_string()],
        "alpha" | "beta" => vec![name.to_owned(), format!("{}", number as f64 / 256.0)],
        "classic_protection" => vec![name.to_owned(), format!("{number}%")],
        "drop_overload" => either("drop_on_overload", "overflow"),
        "drop_early" => either("drop_enqueue", "drop_dequeue"),
        "any_ect" => either("any_ect", "l4s_ect"),
        _ => value(name, changed),
    }
}

/// CAKE's words, which mostly have no values (tc-cake(8)).
fn cakes(queue: &Queue, changed: &Changed) -> Result<Vec<String>, Error> {
    let name = changed.parameter.name;
    let choice = (changed.number)
        .and_then(|number| changed.parameter.choices.get(number as usize))
        .map(|word| word.replace('_', "-"));
    let word = match (name, choice.as_deref()) {
        ("ack_filter", Some("aggressive")) => "ack-filter-aggressive".to_owned(),
        ("ack_filter", Some("normal")) => "ack-filter".to_owned(),
        ("ack_filter", _) => "no-ack-filter".to_owned(),
        ("framing", Some("auto")) => return Ok(Vec::new()),
        ("mtu", _) => return Err(no_word(queue, "`tc` has no `mtu`")),
        (_, Some(choice)) => choice.to_owned(),
        ("ingress", _) => "ingress".to_owned(),
        _ => return Ok(value(name, changed)),
    };
    Ok(vec![word])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(json: &str) -> Result<String, String> {
        let queue: Queue = serde_json::from_str(json).expect("a queue");
        let link = Link {
            link_rate_bps: 8_000_000,
            ..Link::default()
        };
        let words = words(&link, &queue).map_err(|error| error.to_string())?;
        Ok(words.join(" "))
    }

    #[test]
    fn settings_are_written_as_tc_takes_them() {
        for (json, words) in [
            (r#"{"kind": "bfifo", "limit_bytes": 3000}"#, "limit 3000"),
            (
                r#"{"kind": "fq_codel", "limit_pkts": 100, "target_ns": 5500000, "ecn": false, "flows": 64}"#,
                "limit 100 flows 64 target 5500us noecn",
            ),
            (
                r#"{"kind": "tbf", "latency_ns": 50000000, "rate_bps": 8000000, "burst_bytes": 15140}"#,
                "latency 50000us rate 8000000bit burst 15140",
            ),
            (
                r#"{"kind": "red", "limit_bytes": 60000, "probability_ppb": 100000000, "ecn": true, "adaptive": true}"#,
                "limit 60000 avpkt 1000 bandwidth 8000000bit probability 0.1 ecn adaptive",
            ),
            (
                r#"{"kind": "cake", "rate_bps": 8000000, "isolation": "dual_srchost", "ack_filter": "normal"}"#,
                "bandwidth 8000000bit dual-srchost ack-filter",
            ),
            (
                r#"{"kind": "dualpi2", "step_thresh_ns": 500000, "alpha": 64, "drop_overload": false, "any_ect": true, "classic_protection": 20}"#,
                "limit 10000 alpha 0.25 step_thresh 500us overflow classic_protection 20% any_ect",
            ),
        ] {
            assert_eq!(made(json).as_deref(), Ok(words), "{json}");
        }
    }

    #[test]
    fn what_tc_cannot_make_is_refused_by_name() {
        let perturbed = |ns: u64| made(&format!(r#"{{"kind": "sfq", "perturb_ns": {ns}}}"#));
        assert_eq!(
            perturbed(10_000_000_000).as_deref(),
            Ok("limit 127 perturb 10")
        );
        assert!(perturbed(1_500_000_000).is_err());
        let refused = made(r#"{"kind": "red", "limit_bytes": 60000, "gentle": true}"#);
        let expected =
            "queue `kernel:red` cannot be made: Linux has no `gentle`; use `red`, which is ours";
        assert_eq!(refused, Err(expected.to_owned()));
    }

    #[test]
    fn drr_has_classes_and_a_filter() {
        let made = |json: &str| {
            let queue: Queue = serde_json::from_str(json).expect("a queue");
            script(&queue, "link0").map_err(|error| error.to_string())
        };
        let script = made(r#"{"kind": "drr", "limit_pkts": 50, "classes": 16}"#)
            .expect("it can be made")
            .expect("it takes several commands");
        assert_eq!(made(r#"{"kind": "fq"}"#), Ok(None));
        assert!(script.contains("divisor 16 baseclass 1:1"), "{script}");
        assert!(script.contains("pfifo limit 50\\n"), "{script}");
        assert!(made(r#"{"kind": "drr", "quantum_bytes": [300, 600]}"#).is_err());
        assert!(made(r#"{"kind": "drr", "classes": 65536}"#).is_err());
    }
}
