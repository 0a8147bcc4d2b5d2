"""Measures that come with Clinometer and are found by entry points, as those of others are.

An instrument here stands on its public contract alone: `clinometer.authoring`, `clinometer.pieces`,
`clinometer.statistics` and `clinometer.papers`. The families `networks` and `states` have commands
and pages of their own, and import what the command line may.
"""
