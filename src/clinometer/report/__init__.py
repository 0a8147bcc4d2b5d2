"""The report of a results directory: one HTML file, figures and tables."""

from clinometer.report.document import found, write_report

__all__ = ["found", "write_report"]
