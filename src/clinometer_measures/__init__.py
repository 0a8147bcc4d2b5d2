"""Measures that come with Clinometer and stand on its public contract alone, as those of others do.

Each is found by an entry point, and imports `clinometer.authoring`, `clinometer.pieces`,
`clinometer.statistics` and `clinometer.papers`.
"""
