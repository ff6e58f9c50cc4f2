"""Results in other formats."""

from dumbbell.export.csv_files import export_csv

__all__ = ["export_csv"]
