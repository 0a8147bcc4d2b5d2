"""The report of a results directory: one HTML file, figures and tables."""

from tiltmeter.report.document import write_report

__all__ = ["write_report"]
