"""Drawings: plain rows in, one Vega-Lite specification out."""
