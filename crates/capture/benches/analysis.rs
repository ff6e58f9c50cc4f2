//! How fast captures are analysed, compared with tcptrace and tshark on the same files.
//!
//! `cargo bench -p dumbbell-capture` (or `make bench`). Files are generated into the target
//! directory's temporary one, 1 GB each, and removed. Each tool runs in a process of its own, after
//! a run that warms the page cache; the median CPU time of the counted runs is printed, and the
//! largest peak of its memory. A tool that is not installed is skipped with a message. tshark takes
//! minutes and gigabytes: it reads the first file only, and once.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod generated;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use dumbbell_capture::{AnalysisOptions, Reader, analyze};
use generated::{Shape, write_pcap};

/// Counted runs of each tool.
const RUNS: usize = 3;
/// Environment variable for the process that measures this analysis.
const FILE_VARIABLE: &str = "DUMBBELL_BENCH_CAPTURE";

const SHAPES: [(&str, Shape); 3] = [
    ("128 connections", shape(128, 100, 0)),
    ("… 1 % lost", shape(128, 100, 100)),
    (
        "1 connection, 10,000 in flight, 10 % lost",
        shape(1, 10_000, 10),
    ),
];

const fn shape(connections: u32, window: usize, lost_one_in: u64) -> Shape {
    Shape {
        packets: 10_000_000,
        connections,
        window,
        lost_one_in,
    }
}

/// Resources used by a run.
#[derive(Clone, Copy)]
struct Cost {
    cpu_s: f64,
    peak_kb: u64,
}

fn main() -> io::Result<()> {
    if let Some(path) = std::env::var_os(FILE_VARIABLE) {
        return analyze_file(Path::new(&path));
    }
    let packets = std::env::var("DUMBBELL_BENCH_PACKETS")
        .ok()
        .and_then(|text| text.parse().ok());
    println!(
        "{:<12}{:>12}{:>14}{:>10}",
        "tool", "packets", "Mpkt/CPU-s", "peak MB"
    );
    for (name, shape) in SHAPES {
        let shape = Shape {
            packets: packets.unwrap_or(shape.packets),
            ..shape
        };
        let file = TemporaryFile::new()?;
        let mut output = BufWriter::with_capacity(1 << 20, File::create(&file.0)?);
        write_pcap(&mut output, &shape)?;
        output.flush()?;
        drop(output);
        println!("{name}");
        for (tool, command) in tools(&file.0)? {
            match tool {
                "tshark" if name != SHAPES[0].0 => {}
                "tshark" => report(tool, &command, 1, shape.packets)?,
                _ => report(tool, &command, RUNS, shape.packets)?,
            }
        }
    }
    Ok(())
}

/// The name of each tool, and how it is run.
fn tools(file: &Path) -> io::Result<Vec<(&'static str, Vec<String>)>> {
    let path = file.display().to_string();
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let this = std::env::current_exe()?.display().to_string();
    let mut tcptrace = words("tcptrace -n -l -r");
    let mut tshark = words("tshark -n -q -z conv,tcp -r");
    tcptrace.push(path.clone());
    tshark.push(path.clone());
    Ok(vec![
        (
            "dumbbell",
            vec!["env".to_owned(), format!("{FILE_VARIABLE}={path}"), this],
        ),
        ("tcptrace", tcptrace),
        ("tshark", tshark),
    ])
}

fn analyze_file(path: &Path) -> io::Result<()> {
    let mut reader = Reader::open(path).map_err(io::Error::other)?;
    let analysis = analyze(&mut reader, &AnalysisOptions::default()).map_err(io::Error::other)?;
    assert!(analysis.totals.tcp_pkts > 0, "there are packets");
    Ok(())
}

fn report(tool: &str, command: &[String], runs: usize, packets: u64) -> io::Result<()> {
    let first = match run(command) {
        Ok(cost) => cost,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            println!("{tool:<12}  not installed");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let mut costs = vec![first];
    if runs > 1 {
        costs = (0..runs)
            .map(|_| run(command))
            .collect::<io::Result<Vec<Cost>>>()?;
    }
    costs.sort_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
    println!(
        "{tool:<12}{packets:>12}{:>14.2}{:>10}",
        packets as f64 / 1e6 / costs[costs.len() / 2].cpu_s,
        costs.iter().map(|cost| cost.peak_kb).max().unwrap_or(0) / 1024,
    );
    Ok(())
}

/// Runs a command to its end; its figures are read from `/proc` while it is not yet reaped.
fn run(command: &[String]) -> io::Result<Cost> {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut peak_kb = 0;
    let cpu_s = loop {
        thread::sleep(Duration::from_millis(5));
        peak_kb = peak_kb.max(peak(child.id()));
        let (has_ended, cpu_s) = processor_time(child.id())?;
        if has_ended {
            break cpu_s;
        }
    };
    if child.wait()?.success() {
        Ok(Cost { cpu_s, peak_kb })
    } else {
        Err(io::Error::other(format!("{} failed", command[0])))
    }
}

/// Peak resident memory, kB.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

/// Whether a process has ended, and its user and system time.
fn processor_time(process: u32) -> io::Result<(bool, f64)> {
    /// Clock ticks of `/proc`, on every Linux.
    const TICKS_PER_S: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let after_name = stat.rsplit(')').next().unwrap_or("");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |place: usize| -> f64 {
        fields
            .get(place)
            .and_then(|field| field.parse().ok())
            .unwrap_or(0.0)
    };
    Ok((
        fields.first() == Some(&"Z"),
        (ticks(11) + ticks(12)) / TICKS_PER_S,
    ))
}

/// Removed at the end.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new() -> io::Result<Self> {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        fs::create_dir_all(&directory)?;
        Ok(Self(
            directory.join(format!("bench-{}.pcap", std::process::id())),
        ))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
