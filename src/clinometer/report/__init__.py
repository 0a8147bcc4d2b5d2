"""The report of a results directory: one HTML file, figures and tables."""

from clinometer.report.document import family_lines, write_report

__all__ = ["family_lines", "write_report"]
