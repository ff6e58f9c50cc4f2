"""What `dumbbell --help` says of the studies' commands: their entry point `dumbbell.commands`."""

from dumbbell.terminal import InstalledCommand

__all__ = ["COMMANDS"]

COMMANDS = {
    name: InstalledCommand(help_line, "dumbbell_studies.cli", after)
    for name, after, help_line in (
        (
            "reproduce", "export",
            "Repeat the papers' experiments: tables, figures, and the findings one by one.",
        ),
        (
            "search", "reproduce",
            "Search for the scenario in which a congestion control does worst; make it small.",
        ),
        (
            "tune", "search",
            "Search for the parameters with which a congestion control does best.",
        ),
        (
            "ablate", "tune",
            "Measure a congestion control with each parameter off or at its ends, in one table.",
        ),
        (
            "score", "gate",
            "Score congestion controls on a board: how far from the ideal one each is, and where.",
        ),
    )
}  # fmt: skip
