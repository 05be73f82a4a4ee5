"""The entry of the proxy's config: opens the cache once per worker and puts it in place."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

from langchain_semcache.client import Semcache
from langchain_semcache.clock import SystemClock
from langchain_semcache.config import without_password
from langchain_semcache.errors import ConfigurationError, MissingExtra, StoreLocked
from litellm_hooks._controls import readable
from litellm_hooks._evaluation import evaluator_of
from litellm_hooks._identity import FACTS, METADATA, note, tenant_of
from litellm_hooks.backend import SemcacheBackend
from litellm_hooks.callback import Data, SemcacheCallback
from litellm_hooks.settings import HookSettings, unset_variables

try:
    import litellm
    import yaml  # type: ignore[import-untyped]
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

_log = logging.getLogger("litellm_hooks")

TRY_AGAIN_SECONDS = 30.0
"""Between two tries of a worker to own the directory that another one owns."""

HEADERS = ("reason", "confidence", "age")
"""Facts of a decision that are sent as `x-semcache-…`; the similarity goes by LiteLLM's name."""


class ProxyHandler(SemcacheCallback):
    """The cache of one proxy worker.

    Every hook is spelled out here: LiteLLM looks for them in the very class of a callback.

    A directory belongs to one process. Where another worker has it, this one says so once, serves
    uncached, and takes over when the other is gone.

    Raises:
        ConfigurationError: One line that names what is wrong in the proxy's config and the fix.
    """

    def __init__(self, settings: HookSettings) -> None:
        super().__init__()
        self.settings = settings
        self.backend: SemcacheBackend | None = None
        self.trouble = ""
        self._clock = SystemClock()
        self._again = 0.0
        self._opening: asyncio.Task[None] | None = None
        self._own()
        if self.trouble:
            _log.warning("semcache: %s; this worker serves uncached meanwhile", self.trouble)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: object, data: Data, call_type: str
    ) -> Data | None:
        """Before the proxy makes a call: note whose it is, over whatever the client says of it.

        Also puts the cache back where something has replaced it.
        """
        if self.backend is None and self._clock.monotonic() >= self._again:
            self._again = self._clock.monotonic() + TRY_AGAIN_SECONDS
            self._opening = asyncio.create_task(asyncio.to_thread(self._take_over))
        self._put_in_place()
        # Several models in one call answer at once, under one name: nobody could tell whose it is.
        several = "," in str(data.get("model"))
        note(data, "" if several else tenant_of(user_api_key_dict, self.settings.share))
        return readable(data)

    async def async_post_call_response_headers_hook(
        self, data: Data, user_api_key_dict: Any, response: object, **more: Any
    ) -> dict[str, str] | None:
        """What was decided, as `x-semcache-…`."""
        facts = _facts(data)
        told = {f"x-semcache-{name}": facts.get(name) for name in HEADERS}
        # LiteLLM takes it from the first try, which a Router may have fallen back from.
        told["x-litellm-semantic-similarity"] = facts.get("similarity")
        return {name: str(value) for name, value in told.items() if value is not None}

    def _own(self) -> None:
        """Open the cache, unless another process owns its directory."""
        try:
            evaluator = evaluator_of(self.settings.evaluator)
            opened = Semcache.open(self.settings.cache, evaluator=evaluator)
        except StoreLocked as error:
            self.trouble = str(error)
            self._again = self._clock.monotonic() + TRY_AGAIN_SECONDS
            return
        self.backend = SemcacheBackend(opened, self.settings, authenticated=True)
        self.trouble = ""
        self._put_in_place()

    def _take_over(self) -> None:
        """Try again while requests are served without a cache: nothing that fails is theirs."""
        try:
            self._own()
        except Exception as error:  # noqa: BLE001 - whatever it is, the proxy goes on without
            self.trouble = without_password(str(error))
            _log.warning("semcache: the cache cannot be opened: %s", self.trouble)

    def _put_in_place(self) -> None:
        """`cache: true` further down in the config, or settings in a database, replace the cache.

        A Router asks no cache unless it is told to when it is made, which may have been before.
        """
        if self.backend is None:
            return
        if litellm.cache is not self.backend:
            litellm.cache = self.backend
        from litellm.proxy import proxy_server

        router = proxy_server.llm_router
        if router is not None:
            router.cache_responses = True
            self.backend.by_tags = bool(getattr(router, "enable_tag_filtering", False))


def _facts(data: Data) -> Data:
    """What was decided of the call that was answered: behind a Router, of its last try.

    Early releases of LiteLLM keep nothing of a try; there the metadata of the first one tell.
    """
    none: Data = {}
    handler = getattr(data.get("litellm_logging_obj"), "llm_caching_handler", None)
    if handler is not None:
        facts: Data = getattr(handler, FACTS, none)
        return facts
    held = [data[place] for place in METADATA if isinstance(data.get(place), dict)]
    return next((one[FACTS] for one in held if isinstance(one.get(FACTS), dict)), none)


_handlers: list[ProxyHandler] = []


def handler() -> ProxyHandler:
    """The handler of this process; made from `callback_settings: semcache:` when first asked for.

    Raises:
        ConfigurationError: One line that names what is wrong in the proxy's config and the fix.
    """
    if not _handlers:
        settings = getattr(litellm, "callback_settings", None)
        own = settings.get("semcache") if isinstance(settings, dict) else None
        try:
            _check_environment(own)
            made = ProxyHandler(HookSettings.of(own))
        except ConfigurationError as error:
            _log.critical("semcache: %s", error)
            raise
        except Exception as error:
            told = f"{type(error).__name__}: {without_password(str(error))}"
            _log.critical("semcache: the cache cannot be opened: %s", told)
            raise ConfigurationError(f"the cache cannot be opened: {told}") from error
        _handlers.append(made)
        _mount(made)
    return _handlers[0]


def _check_environment(own: object) -> None:
    """LiteLLM has put nothing in place of a variable that is not set; the config says which.

    Raises:
        ConfigurationError: It names each of them and the setting that it was for.
    """
    from litellm.proxy import proxy_server

    path = Path(proxy_server.user_config_file_path or "")
    if not isinstance(own, dict) or not path.is_file():
        return
    config = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    written = (config.get("callback_settings") or {}).get("semcache")
    unset = unset_variables(written, own) if isinstance(written, dict) else {}
    if unset:
        told = (f"{name}: the environment variable {one} is not set" for name, one in unset.items())
        raise ConfigurationError("; ".join(told))


def _mount(made: ProxyHandler) -> None:
    """Answer `/cache/…` and `/semcache/…`, before LiteLLM's own routes of the same names."""
    from litellm.proxy.proxy_server import app

    from litellm_hooks.routes import admin_routes

    for place, route in enumerate(admin_routes(made).routes):
        app.router.routes.insert(place, route)
