"""Tiltmeter measures the implicit bias of language models."""

__version__ = "0.1.0"
