"""The names of `dumbbell.terminal`, each with its module."""

from .capture import tidying
from .completion import complete_engines, complete_what, matching
from .console import (
    ProgressBar,
    note,
    note_cache,
    note_missing_figures,
    out,
    print_json,
    print_line,
    progress_bar,
    show_page,
)
from .field_options import Fields, with_field_options
from .installed_commands import InstalledCommand
from .options import (
    OUTPUT,
    RUN,
    CacheFlag,
    Engine,
    Jobs,
    Json,
    Lang,
    LinuxTreeOption,
    Show,
    SimulatorCacheFlag,
    UnsafeNoSandbox,
)
from .real_time import doing, real_time_note
from .scenario_options import base_scenario, single_values
from .table import print_table

__all__ = [
    "OUTPUT",
    "RUN",
    "CacheFlag",
    "Engine",
    "Fields",
    "InstalledCommand",
    "Jobs",
    "Json",
    "Lang",
    "LinuxTreeOption",
    "ProgressBar",
    "Show",
    "SimulatorCacheFlag",
    "UnsafeNoSandbox",
    "base_scenario",
    "complete_engines",
    "complete_what",
    "doing",
    "matching",
    "note",
    "note_cache",
    "note_missing_figures",
    "out",
    "print_json",
    "print_line",
    "print_table",
    "progress_bar",
    "real_time_note",
    "show_page",
    "single_values",
    "tidying",
    "with_field_options",
]
