"""The report of a results directory: one HTML file, figures and tables."""

from clinometer.report.document import write_report

__all__ = ["write_report"]
