//! What the lines for a shell say about the host: sysctls, the queueing discipline, offloads.

use std::collections::BTreeMap;

use dumbbell_tcp::{AccEcn, EcnMode};

/// The host's settings; the default ones are those of packetdrill's own `defaults.sh`.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Algorithm of new connections (`tcp_congestion_control`).
    pub(crate) congestion_control: String,
    /// Parameters of the congestion control algorithm's module.
    pub(crate) parameters: BTreeMap<String, i64>,
    /// `tcp_ecn`: 0 off, 1 asks and agrees, 2 agrees; 3 to 5 agree to Accurate ECN, and ask for that, for
    /// RFC 3168's, or for none.
    pub(crate) ecn: i64,
    /// `tcp_ecn_option` is not 0: packets have the AccECN option.
    pub(crate) accecn_option: bool,
    /// Whether cwnd falls in a pause (`tcp_slow_start_after_idle`).
    pub(crate) slow_start_after_idle: bool,
    /// `tcp_early_retrans`: without, no tail loss probes.
    pub(crate) loss_probes: bool,
    /// Segmentation offload; also off if `tcp_tso_win_divisor` makes every burst leave at once.
    pub(crate) tso: bool,
    /// The queueing discipline `fq` paces.
    pub(crate) paces: bool,
    /// The queueing discipline takes nothing (`pfifo limit 0`).
    pub(crate) drops_locally: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            congestion_control: "cubic".to_owned(),
            parameters: BTreeMap::new(),
            ecn: 0,
            accecn_option: true,
            slow_start_after_idle: false,
            loss_probes: true,
            tso: true,
            paces: false,
            drops_locally: false,
        }
    }
}

/// Sysctls that change nothing that a script can see here, or have the value that this TCP always has.
const IGNORED: [&str; 22] = [
    "tcp_dsack",
    "tcp_early_demux",
    "tcp_ecn_option_beacon",
    "tcp_fack",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_frto",
    "tcp_min_tso_segs",
    "tcp_moderate_rcvbuf",
    "tcp_no_metrics_save",
    "tcp_notsent_lowat",
    "tcp_pacing_ca_ratio",
    "tcp_pacing_ss_ratio",
    "tcp_recovery",
    "tcp_reordering",
    "tcp_rmem",
    "tcp_sack",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_syncookies",
    "tcp_timestamps",
    "tcp_wmem",
];

impl Settings {
    /// What a host asks for, or agrees to.
    pub(crate) fn ecn_mode(&self, asks: bool) -> EcnMode {
        match (self.ecn, asks) {
            (3, _) | (4 | 5, false) => EcnMode::AccEcn(AccEcn {
                option: self.accecn_option,
                ..AccEcn::default()
            }),
            (1, _) | (2, false) | (4, true) => EcnMode::Classic,
            _ => EcnMode::Off,
        }
    }

    /// Takes what `lines` say; the error names what is not understood.
    pub(crate) fn apply(&mut self, lines: &str) -> Result<(), String> {
        let lines = lines.replace("\\\n", " ");
        for command in lines.split(['\n', ';']) {
            let command = command.split('#').next().unwrap_or_default();
            self.apply_command(command.trim())?;
        }
        Ok(())
    }

    fn apply_command(&mut self, command: &str) -> Result<(), String> {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            [] => Ok(()),
            [program] if program.ends_with("/defaults.sh") => Ok(()),
            [program] if program.starts_with("/tmp/sysctl_restore_") => Ok(()),
            [program, settings @ ..] if program.ends_with("/set_sysctls.py") => {
                self.apply_sysctls(settings)
            }
            ["sysctl", settings @ ..] => self.apply_sysctls(settings),
            ["echo", value, ">", path] if path.starts_with("/sys/module/tcp_") => {
                let name = path.rsplit('/').next().unwrap_or_default();
                let number = parse(name, value)?;
                self.parameters.insert(name.to_owned(), number);
                Ok(())
            }
            ["ethtool", "-K", "tun0", features @ ..] => {
                self.tso = !features.contains(&"off") && self.tso;
                Ok(())
            }
            ["tc", "qdisc", "delete", ..] => Ok(()),
            ["tc", "qdisc", _, "dev", "tun0", "root", discipline @ ..] => {
                self.paces = discipline == ["fq"];
                self.drops_locally = discipline == ["pfifo", "limit", "0"];
                Ok(())
            }
            // Files for calls that read them.
            ["/bin/rm" | "/bin/dd", ..] => Ok(()),
            _ => Err(format!("the shell's `{command}` is not understood")),
        }
    }

    fn apply_sysctls(&mut self, settings: &[&str]) -> Result<(), String> {
        for setting in settings {
            let Some((path, value)) = setting.split_once('=') else {
                continue; // an option of the program, or more of a quoted value
            };
            let name = path.rsplit(['.', '/']).next().unwrap_or_default();
            match name {
                "tcp_congestion_control" => self.congestion_control = value.to_owned(),
                "tcp_ecn" => self.ecn = parse(name, value)?,
                "tcp_ecn_option" => self.accecn_option = parse(name, value)? > 0,
                "tcp_slow_start_after_idle" => self.slow_start_after_idle = parse(name, value)? > 0,
                "tcp_early_retrans" => self.loss_probes = parse(name, value)? >= 3,
                "tcp_tso_win_divisor" => self.tso &= parse(name, value)? < 100,
                name if IGNORED.contains(&name) => {}
                name => return Err(format!("the sysctl `{name}` is not understood")),
            }
        }
        Ok(())
    }
}

fn parse(name: &str, value: &str) -> Result<i64, String> {
    value
        .parse()
        .map_err(|_| format!("`{value}` is no number for `{name}`"))
}
