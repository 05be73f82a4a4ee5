"""Arguments of `SemanticCache` that make no sense are said at once."""

from __future__ import annotations

import pytest

from langchain_semcache import ConfigurationError, SemanticCache, Semcache


@pytest.mark.parametrize("given", [{"ttl": 5}, {"encoder": "hash"}, {"no_such_setting": 1}])
def test_an_open_cache_takes_no_settings(given):
    with Semcache.open(":memory:", encoder="hash") as opened:
        with pytest.raises(ConfigurationError, match="has its settings already"):
            SemanticCache(opened, **given)
        assert SemanticCache(opened, tenant="acme").tenant == "acme"


def test_a_tenant_is_text():
    with pytest.raises(ConfigurationError, match="tenant must be text, not 42"):
        SemanticCache(":memory:", encoder="hash", tenant=42)
