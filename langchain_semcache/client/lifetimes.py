"""What a caller says of a lifetime, and what comes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import inf

from langchain_semcache.config import SemcacheConfig
from langchain_semcache.engine.freshness import BY_CLASS, BY_RULES, Freshness
from langchain_semcache.engine.storing import Terms
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.guards import volatile
from langchain_semcache.request import Resolved
from langchain_semcache.ttl import Ttl, Unset, checked_ttl


class Lifetimes:
    """Fixed lifetimes, or the rules that they come from."""

    def __init__(self, config: SemcacheConfig, freshness: Freshness | None) -> None:
        self._config = config
        self._freshness = freshness
        by_rules = config.freshness.policy == "rules"
        self._rules = freshness.rules if freshness is not None and by_rules else None

    def asked(self, ttl: Ttl) -> tuple[str, timedelta | None]:
        """Who has a say in a lifetime (see `Entry.life`), and how long it is where that is nobody.

        Raises:
            ConfigurationError: It is negative or no duration, or no class of the rules.
        """
        if isinstance(ttl, Unset):
            return "" if self._freshness is None else BY_RULES, self._config.ttl
        if not isinstance(ttl, str):
            return "", checked_ttl(ttl)
        rules = self._rules
        if rules is None:
            raise ConfigurationError(
                f"ttl names a class, {ttl!r}, but lifetimes are fixed: give a duration, or set "
                'freshness.policy to "rules"'
            )
        if ttl not in rules.classes:
            known = ", ".join(sorted(rules.classes))
            raise ConfigurationError(f"ttl: no class is called {ttl!r}; the classes are {known}")
        return BY_CLASS + ttl, None

    def bounded(self, terms: Terms, resolved: Resolved) -> Terms:
        """How long an entry is kept at most: as long as rules could ever give it, or as asked.

        What changes by the day is not kept for long, however long it was asked to be kept.
        """
        if terms.life and self._rules is not None:
            longest = self._rules.bounds_of(resolved.scope.tenant).most
            return replace(terms, ttl=None if longest == inf else timedelta(seconds=longest))
        terms = self._within_the_tenants_limit(terms, resolved)
        most = self._config.volatile_ttl
        if most is None or (terms.ttl is not None and terms.ttl <= most):
            return terms
        return replace(terms, ttl=most) if volatile(resolved.query.text) else terms

    def _within_the_tenants_limit(self, terms: Terms, resolved: Resolved) -> Terms:
        """No lifetime that is named gets past a limit that the tenant has of its own."""
        own = None if self._rules is None else self._rules.tenants.get(resolved.scope.tenant)
        if own is None or own.most == inf:
            return terms
        asked = inf if terms.ttl is None else terms.ttl.total_seconds()
        return terms if asked <= own.most else replace(terms, ttl=timedelta(seconds=own.most))
