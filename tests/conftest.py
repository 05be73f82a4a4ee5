"""What holds for every test: nothing is fetched, and nothing that a test sets outlives it."""

from __future__ import annotations

import os
from collections.abc import Iterator

# Read by the libraries when they are first imported, so they are set before any test module is.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LANGSMITH_TRACING"] = "false"

import hypothesis
import pytest

# The checks of a commit are the same each time they are run, so that a red one can be run again;
# `make fuzz` is what looks for what no one has thought of yet.
hypothesis.settings.register_profile(
    "house",
    deadline=None,  # shared machines stall now and then: a slow example is no failing example
    derandomize=True,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "fuzz", parent=hypothesis.settings.get_profile("house"), derandomize=False, max_examples=2_000
)
hypothesis.settings.load_profile(os.environ.get("SEMCACHE_HYPOTHESIS", "house"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """With `-n 2` a file is run by one worker, and so are all that share a LiteLLM proxy."""
    litellm = item.path.parent.name == "litellm"
    item.add_marker(pytest.mark.xdist_group("litellm" if litellm else str(item.path)))


@pytest.fixture(autouse=True)
def _no_cache_is_left_behind() -> Iterator[None]:
    """LangChain's cache is global; every test starts and ends without one."""
    from langchain_core.globals import set_llm_cache

    set_llm_cache(None)
    yield
    set_llm_cache(None)
