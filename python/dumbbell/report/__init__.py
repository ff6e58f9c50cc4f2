"""Reports: one HTML file that needs no network."""

from dumbbell.report.reproduction_page import write_report

__all__ = ["write_report"]
