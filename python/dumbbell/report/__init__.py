"""Reports: one HTML file that needs no network."""
