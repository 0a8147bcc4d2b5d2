"""Readers of hidden states: what a model holds of each term, layer by layer."""
