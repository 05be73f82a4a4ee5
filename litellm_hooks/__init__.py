"""Hooks that let LiteLLM use the cache: not part of this release.

The package reserves its place in the import order and in the wheel. It exports nothing yet; the
changelog will say when it does.
"""

__all__: list[str] = []
