"""Pages of studies: reproductions, attributions, scores."""

from dumbbell_studies.report.attribution_page import write_attribution_page
from dumbbell_studies.report.reproduction_page import write_report, write_site

__all__ = ["write_attribution_page", "write_report", "write_site"]
