"""Published results, to stand beside one's own; sources in ``README.md`` of this folder."""

from tiltmeter.reference.published import load_published

__all__ = ["load_published"]
