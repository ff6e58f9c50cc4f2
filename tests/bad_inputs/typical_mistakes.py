"""What people typically get wrong, and the answer: the thing, the value, the fix."""

__all__ = ["MISTAKES"]

#: Command lines, and what stderr has after `error: `.
MISTAKES = (
    (
        "run copa:delta=0.5",
        "`copa` has no parameter `delta`; `default_inv_delta` is 1/delta",
    ),
    (
        "run copa:default_inv_delta=0.5",
        "parameter `default_inv_delta` of `copa` is `0.5`, which is not a whole number; use 1 to "
        "1000 (pkts)",
    ),
    (
        "run cubic --traffic voip",
        "unknown application `voip`; did you mean `datagram:preset=voip`?",
    ),
    (
        "emulate --upwith cubic -- ping server",
        "no such option: --upwith; did you mean `--with-up`?",
    ),
    (
        "run kubic",
        "unknown congestion control `kubic`; did you mean `cubic`?",
    ),
    (
        "run copa,cubic",
        "unknown congestion control `copa,cubic`; separate algorithms with a space: `copa cubic`",
    ),
    (
        "run copa+kubic",
        "unknown congestion control `kubic`; did you mean `cubic`?",
    ),
    (
        "run cubic --rate 50",
        "rate `50` has no unit; use e.g. `50mbit`, `800kbit` or `1gbit`",
    ),
    (
        "run cubic --rate 50Mbpz",
        "rate `50Mbpz` has the wrong unit `Mbpz`; use e.g. `50mbit`, `800kbit` or `1gbit`",
    ),
    (
        "run cubic --bw 50mbit",
        "no such option: --bw; did you mean `--rate`?",
    ),
    (
        "run cubic --duration 10s",
        "no such option: --duration; did you mean `--time`?",
    ),
    (
        "run cubic --delay 20ms",
        "no such option: --delay; did you mean `--rtt`?",
    ),
    (
        "run cubic --queue drop-tail",
        "unknown queue discipline `drop-tail`; did you mean `bfifo`, or `pfifo` in packets?",
    ),
    (
        "run cubic --qdisc fq_codel",
        "no such option: --qdisc; did you mean `--queue`?",
    ),
    (
        "run cubic --queue codel:targt=5ms",
        "`codel` has no parameter `targt`: it has `limit`, `target`, `interval`, `ecn`, `ce_threshold`, `ce_threshold_l4s` and `mtu`; did you mean `target`?",
    ),
    (
        "run cubic --buffer 2",
        "buffer `2` has no unit; use e.g. `2bdp`, `500kB` or `64pkt`",
    ),
    (
        "run cubic --buffer 2 bdp",
        "`bdp` is a unit; write it behind its number, without a space: `2bdp`",
    ),
    (
        "sweep cubic --rtt 20ms 40ms",
        "`40ms` is a value; write it behind its option, and a list without spaces, like `--buffer 1,2bdp`",
    ),
    (
        "sweep cubic --axis buffer=1bdp 2..4bdp",
        "`2..4bdp` is a value; write it behind its option, and a list without spaces, like `--buffer 1,2bdp`",
    ),
    (
        "sweep cubic --buffer 1-16bdp",
        "buffer `1-16bdp`: write a range as `1..16bdp`",
    ),
    (
        "sweep cubic --axis flows=1-4",
        "flows `1-4`: write a range as `1..4`",
    ),
    (
        "sweep cubic --rtt 10ms-80ms,100ms",
        "rtt `10ms-80ms`: write a range as `10ms..80ms`",
    ),
    (
        "sweep copa --axis copa.mode_window_rtts=2-16",
        "copa.mode_window_rtts `2-16`: write a range as `2..16`",
    ),
    (
        "run cubic:2 bbr",
        "`cubic:2`: `2` is not a parameter; for 2 flows use `--set cubic.flows=2`, or `flows = 2` in a file",
    ),
    (
        "sweep cubic --axis up_rate=1mbit,2mbit",
        "`up_rate` is not a field of a scenario; use the option `--up-rate`, or a `[[link]]` in a scenario file",
    ),
    (
        "run cubic --up-rate 5mbit --set up_buffer=2bdp",
        "`up_buffer` is not a field of a scenario; use `link.up.buffer`",
    ),
    (
        "run cubic --buffer 2bpd",
        "buffer `2bpd` has the wrong unit `bpd`; use e.g. `2bdp`, `500kB` or `64pkt`",
    ),
    (
        "run cubic --loss 0.01",
        "loss `0.01` has no unit; use e.g. `0.1%`, `1%` or `10ppm`",
    ),
    (
        "run cubic --loss 150%",
        "loss `150%` is too large; use at most `99.9999%`; not every packet can be lost",
    ),
    (
        "run cubic --time 10",
        "time `10` has no unit; use e.g. `40ms`, `120s` or `500us`",
    ),
    (
        "run cubic --time 0s",
        "time `0s` is zero; use at least `1ns`",
    ),
    (
        "run cubic --flows 0",
        "flows is 0; use 1 to 100000",
    ),
    (
        "run cubic --flows -3",
        "flows `-3` is not a whole number",
    ),
    (
        "run cubic --flows 1,4",
        "`--flows 1,4` lists 2 values, but `dumbbell run` takes one; use `dumbbell sweep`",
    ),
    (
        "run cubic --buffer 1..4bdp",
        "`--buffer 1..4bdp` lists 3 values, but `dumbbell run` takes one; use `dumbbell sweep`",
    ),
    (
        "run cubic@paper",
        "`cubic@paper`: `cubic` has no presets; use `cubic`",
    ),
    (
        "run copa@papers",
        "`copa` has no preset `papers`; use `copa@calm`, `copa@calm-2`, `copa@ccp-4.15`, `copa@paper`",
    ),
    (
        "run copa:mode_window_rtts=999",
        "parameter `mode_window_rtts` of `copa` is 999; use 1 to 30 (srtt)",
    ),
    (
        "run cubic --cc bbr",
        "no such option: --cc; algorithms are arguments: `copa cubic`",
    ),
    (
        "run westwood",
        "`westwood` is not built in; with Linux's sources at hand use `--linux-tree DIR`, or name the file: `DIR/net/ipv4/tcp_westwood.c`",
    ),
    (
        "run linux/cubic",
        "`linux/cubic` is a kernel's own; use `--engine uml` or `kernel`, or `cubic`",
    ),
    (
        "run absent.toml",
        "absent.toml: no such file",
    ),
    (
        "run scen",
        "`scen` is a directory; use `scen/incast.toml`",
    ),
    (
        "run r",
        "`r` is a directory; it holds a result: `dumbbell report r`",
    ),
    (
        "run ./mine.bpf.c",
        "congestion control `./mine.bpf.c`: no such file; use a built-in name (`dumbbell cc list`) or the path of a file",
    ),
    (
        "run cubic --reps 3",
        "no such option: --reps; that is `dumbbell sweep --reps`",
    ),
    (
        "run cubic --axis rtt=1ms,2ms",
        "no such option: --axis; that is `dumbbell sweep --axis`",
    ),
    (
        "run cubic --out /proc/x",
        "/proc/x: cannot be written: no such file or directory; choose another path",
    ),
    (
        "run cubic --live",
        "`--live` shows a run in real time; add `--engine kernel`",
    ),
    (
        "run cubic --engine kernl",
        "unknown engine `kernl`; did you mean `kernel`?",
    ),
    (
        "run cubic --start 0s,1s,2s",
        "`--start 0s,1s,2s` lists 3 values for 1 group; use one, or one per group",
    ),
    (
        "run cubic --start 80s",
        "`cubic` flows never start: start `80s` is not before the end at `60s`; use an earlier `start` or a longer `time`",
    ),
    (
        "run cubic --seed x",
        "seed `x` is not a whole number",
    ),
    (
        "run cubic --traffic poisson",
        "`poisson` needs `size`: use e.g. `poisson:size=500kB`",
    ),
    (
        "run cubic --json true",
        "`true` is not a congestion control algorithm; an option like `--json` takes no value: remove `true`",
    ),
    (
        "run @incas",
        "unknown scenario `@incas`; did you mean `incast`?",
    ),
    (
        "runn cubic",
        "no such command: `runn`; did you mean `run`?",
    ),
    (
        "sweep cubic --axis buffr=1,2bdp",
        "`buffr` is not a field of a scenario; did you mean `buffer`?",
    ),
    (
        "sweep cubic --axis rtt",
        "axis `rtt` has no values; use `--axis NAME=VALUES`",
    ),
    (
        "sweep cubic --metric goodput",
        "unknown metric `goodput`; did you mean `goodput_bps`?",
    ),
    (
        "sweep cubic --reps 0",
        "reps is 0; it must be at least 1",
    ),
    (
        "sweep cubic --buffer 4..1bdp",
        "buffer `4..1bdp`: a range must start above zero and increase",
    ),
    (
        "sweep cubic --until-ci 5",
        "invalid until-ci `5`: use `2%` of the mean, or a width in Mbit/s, like `0.5Mbit/s`",
    ),
    (
        "sweep --resume absent",
        "absent: does not exist; name one that a command wrote with --out",
    ),
    (
        "plot absent",
        "absent: does not exist; name one that a command wrote with --out",
    ),
    (
        "plot r --series cwndd",
        "the run has no series `cwndd`; did you mean `cwnd`?",
    ),
    (
        "plot s --size 3col",
        "unknown size `3col`; did you mean `2col`?",
    ),
    (
        "report absent",
        "absent: does not exist; name one that a command wrote with --out",
    ),
    (
        "report export r",
        "`export` needs a format: use --csv, --latex or --qlog",
    ),
    (
        "compare r absent",
        "absent: does not exist; name one that a command wrote with --out",
    ),
    (
        "compare r s",
        "r and s have no pair of runs in common; the nearest differ in buffer (`–` and `1bdp`); run both under the same conditions: the sides may differ in algorithms, and in a queue, buffer or host's setting of which each has one",
    ),
    (
        "analyze absent.pcap",
        "absent.pcap: cannot be read: no such file or directory",
    ),
    (
        "analyze r",
        "r: is a directory without capture.pcapng; use a capture file",
    ),
    (
        "gate regresion --cc cubic",
        "`regresion` is not a suite, a suite file or a baseline; did you mean `regression`?",
    ),
    (
        "gate regression",
        "`regression` is a suite: name the congestion control to test, as in `--cc ./mine.bpf.c`",
    ),
    (
        "list metric",
        "nothing to list is called `metric`; did you mean `metrics`?",
    ),
    (
        "list queues fqq",
        "unknown queue discipline or impairment `fqq`; did you mean `fq`?",
    ),
    (
        "help quues",
        "no page or command is called `quues`; did you mean `queues`?",
    ),
    (
        "archive verify absent.tar.zst",
        "absent.tar.zst: no such file",
    ),
    (
        "validate cubic --engine kernl",
        "unknown engine `kernl`; did you mean `kernel`?",
    ),
    (
        "score cubic --board idael",
        "`idael` is not a board or a board's file; did you mean `ideal`?",
    ),
    (
        "search cubic --worst gapp",
        "unknown failure `gapp`: use `gap`, `stall`, `starved`, `bufferbloat`, `harm` or a metric (`dumbbell list metrics` lists them)",
    ),
    (
        "reproduce ogino2012",
        "unknown paper `ogino2012`; did you mean `ogino2021`?",
    ),
    (
        "model wares",
        "no such command: `wares`; did you mean `ware`?",
    ),
    (
        "cache prune",
        "nothing to remove: use `--older-than 30d`, `--max-size 5GB`, or `--all` for every run",
    ),
    (
        "cc check absent.bpf.c",
        "congestion control `./absent.bpf.c`: no such file; use a built-in name (`dumbbell cc list`) or the path of a file",
    ),
    (
        "cc new Mine",
        "invalid congestion-control name `Mine`: use 1–15 lower-case letters, digits or `_`, starting with a letter, and not a keyword of C or Python, like `mine`",
    ),
    (
        "emulate",
        "no command; write it after `--`, or use `--interactive`",
    ),
    (
        "emulate --rate 5",
        "no command; write it after `--`, or use `--interactive`",
    ),
    (
        "emulate --ready tcp:80 -- ping server",
        "`--ready` waits for a server; add `--serve COMMAND`",
    ),
    (
        'emulate --serve "\'x" -- ping server',
        "--serve `'x`: no closing quotation; quote it as in a shell",
    ),
    (
        "emulate --log x.txt -- ping server",
        "x.txt: unknown format; use a name that ends in .arrow, .parquet, .csv",
    ),
    (
        "emulate --with cubik -- ping server",
        "unknown congestion control `cubik`; did you mean `cubic`?",
    ),
    (
        "emulate set rate",
        "`rate` sets nothing; use `NAME=VALUE`, e.g. `rate=5mbit`",
    ),
    (
        "emulate enter klient",
        "no host `klient`; use `client` or `server`",
    ),
    (
        "emulate ping -c 3 server",
        "no such option: -c; put `--` before the command: `dumbbell emulate -- ping -c 3 server`",
    ),
    (
        "emulate --rtt 40ms --with cubic:2 curl --silent 'a b'",
        "no such option: --silent; put `--` before the command: `dumbbell emulate --rtt 40ms --with cubic:2 -- curl --silent 'a b'`",
    ),
    (
        "emulate enter server ping -c 3 client",
        "no such option: -c; put `--` before the command: `dumbbell emulate enter server -- ping -c 3 client`",
    ),
    (
        "emulate --rt 40ms ping server",
        "no such option: --rt; did you mean `--rtt`?",
    ),
    (
        "sweep cubic --stagger 5s",
        "no such option: --stagger; use `--start 0s,5s`, a time per group, or `--jitter 5s`, a random delay of up to that for each flow",
    ),
    (
        "sweep cubic --axis stagger=1s,5s",
        "`stagger` is not a field of a scenario; did you mean `jitter`?",
    ),
    (
        "sweep cubic --jobs 0",
        "invalid `--jobs 0`: use 1 or more",
    ),
    (
        "run cubic --set rtt",
        "`--set rtt` sets nothing; use `--set NAME=VALUE`",
    ),
    (
        "run cubic --set 5.rtt=10ms",
        "axis `5.rtt`: no group runs `5`; the groups are `0` (cubic)",
    ),
    (
        "run cubic --set link.x.rate=1mbit",
        "`link.x.rate`: the scenario has no `[[link]]`; use `rate`",
    ),
    (
        "run n.toml",
        "n.toml:3: name must be a string, not `5`",
    ),
    (
        "run",
        "missing argument 'CC… | FILE.toml'; use e.g. `dumbbell run copa cubic --rate 50mbit --rtt 40ms --buffer 2bdp --time 60s`",
    ),
    (
        "archive r",
        "missing option '--out' / '-o'; use e.g. `dumbbell archive results/buffers -o paper.tar.zst`",
    ),
    (
        "validate",
        "missing argument 'CC… | CC+CC… | FILE.toml…'; use e.g. `dumbbell validate cubic --time 30s`",
    ),
    (
        "run cubic --pcap",
        "no such option: --pcap; use `--capture`, which writes packets as pcapng",
    ),
    (
        "run cubic -t 10",
        "no such option: -t; use `--time 10s`, with a unit",
    ),
    (
        "run cubic --set 0.route=a",
        "`route` cannot be set so; write it in the scenario file",
    ),
    (
        "sweep cubic --axis 0.metric=mos",
        "`metric` cannot be an axis; use `--set 0.metric=mos`, or write it in the scenario file",
    ),
    (
        "cc check own",
        "`own` is a directory; use `own/own.bpf.c`",
    ),
    (
        "plot g --kind heat --metric goodput_bps --x buffer --y buffer",
        "--x and --y are both `buffer`; use `--y rtt`",
    ),
    (
        "report r s",
        "got unexpected extra argument(s) (s); use `--against` for it",
    ),
    (
        "report export s --latex --metric shre",
        "the runs have no metric `shre`; did you mean `share`?",
    ),
    (
        "list traffic voip",
        "`voip` is a preset: use `dumbbell list traffic datagram`, and `--traffic datagram:preset=voip`",
    ),
    (
        "reproduce --list",
        "no such option: --list; the arguments are ogino2021, saito2022, kakenhi2024, coexistence; all when none is named",
    ),
    (
        "sweep cubic --buffer 1,2bdp --time 1s --out s",
        "s: holds another sweep (group 0 cc is `reno` there and `cubic` now); resume it with `--resume s`, or use another `--out`",
    ),
    (
        "emulate --with cubic,bbr -- true",
        "`cubic,bbr` is a list; use `--with cubic --with bbr`",
    ),
    (
        "emulate --with-up reno:2,bbr -- true",
        "`reno:2,bbr` is a list; use `--with-up reno:2 --with-up bbr`",
    ),
    (
        "emulate 'ping -c 1 server'",
        "`ping -c 1 server` is one word; write the command without quotes, `-- ping -c 1 server`, or for a shell `-- sh -c 'ping -c 1 server'`",
    ),
    (
        "sweep reno --cc bbr --buffer 1,2bdp",
        "`--cc bbr` goes with `--resume DIR`; for another algorithm use `dumbbell sweep reno bbr`, or one after the other `--axis 0.cc=reno,bbr`",
    ),
    (
        "sweep reno bbr --trust",
        "`--trust` goes with `--resume DIR`; leave it out",
    ),
    (
        "plot r --out fig.pdf",
        "`--out fig.pdf` names a directory, in which files have names of their own; use e.g. `--out fig`",
    ),
    (
        "report export s --latex --out table.tex",
        "`--out table.tex` names a directory, in which files have names of their own; use e.g. `--out table`",
    ),
    (
        "run reno --time 1s --out new/r.json",
        "`--out new/r.json` names a directory, in which files have names of their own; use e.g. `--out new/r`",
    ),
    (
        "run reno --buffer 1:8bdp",
        "buffer `1:8bdp`: write a range as `1..8bdp`",
    ),
    (
        "run @which-queue --set down.queue=codel",
        "axis `down.queue`: `down` is a link; use `link.down.queue`",
    ),
    (
        "sweep @which-queue --queue bfifo,codel",
        "`queue` cannot be set for the whole of a scenario with links; use `--set link.down.queue=VALUE`, or with several values `--axis`",
    ),
    (
        "plot r --kind heat --metric goodput_bps",
        "r: a heat map needs a sweep of two axes, like `--buffer 1..8bdp --rtt 10..80ms`; it has none",
    ),
    (
        "run reno bbr --name A,B",
        "`--name A,B` names no group; use `--name 0=A --name 1=B`",
    ),
    (
        "run own.c reno",
        "congestion control `own.c`: no such file; did you mean `own/own.bpf.c`?",
    ),
    (
        "run mine.c reno",
        "congestion control `mine.c`: no such file; use a built-in name (`dumbbell cc list`) or the path of a file",
    ),
    (
        "plot r b --series bw",
        "r: `bw` is a series of a run by itself; draw one run, without `--kind`",
    ),
    (
        "sweep reno bbr --buffer 1,2bdp --out s",
        "s: holds another sweep (time is `1s` there and `60s` now, group is `1 of them` there and `2 of them` now); resume it with `--resume s`, or use another `--out`",
    ),
    (
        "run suite.toml",
        "suite.toml:2: is a suite, not a scenario; use `dumbbell gate` with it",
    ),
    (
        "gate line.toml",
        "line.toml:2: is a scenario, not a suite; put its groups and links into a `[[case]]`, or run it with `dumbbell run`",
    ),
    (
        "gate cmd.toml",
        "cmd.toml:4: case `a`: unknown key `cmd` in a group; did you mean `client`?",
    ),
    (
        "report s --out s.pdf",
        "`--out s.pdf`: a report is a page of HTML; use `--out s.html`, and for figures as files `dumbbell plot`",
    ),
    (
        "run cubic vs bbr",
        "unknown congestion control `vs`; write the algorithms one after the other: `copa cubic`",
    ),
    (
        "run cubic x4",
        "unknown congestion control `x4`; for 4 flows of each algorithm use `--flows 4`",
    ),
    (
        "run cubic*4",
        "unknown congestion control `cubic*4`; for 4 flows use `--set cubic.flows=4`",
    ),
    (
        "run quic",
        "unknown congestion control `quic`, which is a transport; a QUIC flow is `quic/quinn:cubic` or `quic/noq:copa`, and `dumbbell emulate -- COMMAND` runs a QUIC program",
    ),
    (
        "run tcp_cubic",
        "unknown congestion control `tcp_cubic`; did you mean `cubic`?",
    ),
    (
        "run cubic --seed",
        "`--seed` needs a value: `--seed VALUE`",
    ),
    (
        "sweep cubic --reps=many",
        "invalid `--reps many`: use a whole number",
    ),
    (
        "run cubic bbr --start 0s --start 5s",
        "`--start` is given twice; list the groups' values in one: `--start A,B`",
    ),
    (
        "sweep cubic --buffer 1:8",
        "buffer `1:8`: write a range as `1..8`, with its unit",
    ),
    (
        "run cubic --queue 'fq_codel limit 100'",
        "unknown queue discipline `fq_codel limit 100`; parameters follow a colon: `fq_codel:limit=100`",
    ),
    (
        "run cubic --queue codel=5ms",
        "unknown queue discipline `codel=5ms`; parameters follow a colon: `codel:PARAMETER=5ms`",
    ),
    (
        "run cubic --impair jitter=10ms",
        "unknown impairment `jitter=10ms`; parameters follow a colon: `jitter:PARAMETER=10ms`",
    ),
    (
        "run cubic --impair loss=1%",
        "unknown impairment `loss=1%`; use the option `--loss 1%`",
    ),
    (
        "run cubic --traffic web",
        "unknown application `web`; did you mean `page`?",
    ),
    (
        "run cubic --traffic call",
        "unknown application `call`; did you mean `datagram:preset=voip`?",
    ),
    (
        "run cubic --traffic 10MB",
        "unknown application `10MB`; a transfer of that size is `--size 10MB`",
    ),
    (
        "run cubic --pdf",
        "no such option: --pdf; use `dumbbell plot DIR --format pdf` for figures, or print the page from a browser",
    ),
    (
        "run cubic --plot",
        "no such option: --plot; use --out DIR, then `dumbbell plot DIR`",
    ),
    (
        "plot r -o fig",
        "no such option: -o; did you mean `--out`?",
    ),
    (
        "emulate --down-loss 1% -- true",
        "no such option: --down-loss; did you mean `--loss`?",
    ),
    (
        "version",
        "no such command: `version`; use `dumbbell --version`",
    ),
    (
        "cc show cubic",
        "no such command: `show`; use `dumbbell cc list NAME`",
    ),
    (
        "cache clear",
        "no such command: `clear`; use `dumbbell cache prune --all`",
    ),
    (
        "list cc",
        "nothing to list is called `cc`; use `dumbbell cc list`",
    ),
    (
        "cc new my-cc",
        "invalid congestion-control name `my-cc`: use 1–15 lower-case letters, digits or `_`, starting with a letter, and not a keyword of C or Python, like `my_cc`",
    ),
    (
        "run @nothing",
        "unknown scenario `@nothing`; `dumbbell list scenarios` lists them",
    ),
    (
        "emulate --packet-loss 1% -- true",
        "no such option: --packet-loss; did you mean `--loss`?",
    ),
    (
        "plot r --metric cwnd",
        "`cwnd` is a series: use `--series cwnd`",
    ),
)
