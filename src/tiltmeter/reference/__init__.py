"""Published results, to stand beside one's own; sources in ``README.md`` of this folder."""

from tiltmeter.reference.published import YES_SHARES, load_published, load_regressions

__all__ = ["YES_SHARES", "load_published", "load_regressions"]
