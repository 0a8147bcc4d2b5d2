"""Simulated models: answers with a planted lean, for tests, tutorials and benchmarks.

Nothing here is measured. A simulated model answers the prompts of Clinometer's studies as a model
would whose expected scores are known, so that everything between the asking and the page can be
held against them. Results of simulated models say so wherever they stand.
"""
