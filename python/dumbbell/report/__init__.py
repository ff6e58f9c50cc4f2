"""Reports: one HTML file that needs no network."""

from dumbbell.report.reproduction_page import write_report, write_site

__all__ = ["write_report", "write_site"]
