"""A proxy's config: what is wrong in it is one clear line, and its order does not matter."""

from __future__ import annotations

import pytest

from tests.adapters.litellm.conftest import Asker
from tests.services.litellm_proxy import LiteLLMProxy

HANDLER = "litellm_hooks.proxy_handler"

WRONG = {
    "a name": ({"similarty_threshold": 0.9}, "similarty_threshold is not a setting"),
    "an encoder": ({"encoder": "word2vec"}, "word2vec"),
    "a port": ({"location": "http://127.0.0.1:99999"}, "names no server"),
    "a variable": (
        {"location": "os.environ/SEMCACHE_NOT_SET"},
        "location: the environment variable SEMCACHE_NOT_SET is not set",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_setting_ends_the_start_with_one_line(tmp_path, upstream, kind):
    settings, named = WRONG[kind]
    with LiteLLMProxy(tmp_path, upstream.url, semcache=settings, start=False) as proxy:
        assert proxy.ended() != 0
    lines = [line for line in proxy.said().splitlines() if "semcache: " in line]
    assert len(lines) == 1, proxy.said()[-2000:]
    assert named in lines[0]


ORDERS = {
    "first": {"callbacks": [HANDLER], "cache": True, "cache_params": {"type": "local"}},
    "last": {"cache": True, "cache_params": {"type": "local"}, "callbacks": [HANDLER]},
}


@pytest.mark.parametrize("order", ORDERS)
def test_a_cache_of_litellm_in_the_same_config_changes_nothing(tmp_path, upstream, order):
    settings = {"location": ":memory:"}
    with LiteLLMProxy(
        tmp_path, upstream.url, semcache=settings, litellm_settings=ORDERS[order]
    ) as proxy:
        ask = Asker(proxy, upstream)
        first = ask("What is the capital of France?")
        hit = ask("Tell me the capital of France")
        assert (hit.reason, hit.text) == ("semantic", first.text)


REPLACES = '''
import litellm
from litellm.caching.caching import Cache
from litellm.integrations.custom_logger import CustomLogger


class Replaces(CustomLogger):
    """Does what settings from the proxy's database do: puts another cache in place."""

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        if "replace" in data["messages"][0]["content"]:
            litellm.cache = Cache(type="local")


replaces = Replaces()
'''


def test_a_cache_that_was_replaced_while_the_proxy_runs_is_put_back(tmp_path, upstream):
    tmp_path.joinpath("replaces.py").write_text(REPLACES)
    with LiteLLMProxy(
        tmp_path,
        upstream.url,
        semcache={"location": ":memory:"},
        litellm_settings={"callbacks": [HANDLER, "replaces.replaces"]},
    ) as proxy:
        ask = Asker(proxy, upstream)
        first = ask("What is the capital of France?")
        ask("Please replace the cache.", settle=False)
        hit = ask("Tell me the capital of France")
        assert (hit.reason, hit.text) == ("semantic", first.text)
