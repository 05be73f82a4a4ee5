"""The cache itself, framework-free, in two colours over one core."""

from langchain_semcache.client.asynchronous import AsyncSemcache
from langchain_semcache.client.blocking import Semcache
from langchain_semcache.client.stats import Stats

__all__ = ["AsyncSemcache", "Semcache", "Stats"]
