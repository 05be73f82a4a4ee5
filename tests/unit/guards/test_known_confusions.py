"""Pairs that semantic caches are known to confuse."""

from __future__ import annotations

import pytest

from langchain_semcache.guards import check

REFUSED = [
    ("How do I turn on dark mode?", "How do I turn off dark mode?"),
    ("Is port 6379 open by default?", "Is port 6379 closed by default?"),
    ("Which foods are safe in pregnancy?", "Which foods are not safe in pregnancy?"),
    ("Can I deduct this?", "Can't I deduct this?"),
    ("List users with access", "List users without access"),
    ("merge develop into main", "merge main into develop"),
    ("rename old.py to new.py", "rename new.py to old.py"),
    ("convert 100 EUR to USD", "convert 100 USD to EUR"),
    ("flights from Oslo to Rome", "flights from Rome to Oslo"),
    ("translate from French to German", "translate from German to French"),
    ("does A cause B", "does B cause A"),
    ("status of order 123", "status of order 124"),
    ("What is 1+1?", "What is 21+1?"),
    ("revenue in 2023", "revenue in 2024"),
    ("Python 3.11 release date", "Python 3.12 release date"),
    ("15% of 80", "50% of 80"),
    ("invoice INV-0071", "invoice INV-0017"),
    ("email of Ann Lee", "email of Ann Leigh"),
    ("what does --max-cost do", "what does --max-heads do"),
    ("3 km in miles", "3 miles in km"),
    ("order one hundred twenty three", "order 124"),
    ("order １２３", "order 124"),
    ("介绍下大西洋", "介绍下太平洋"),
    ("東京の天気", "大阪の天気"),
    ("Who is the president of Russia?", "俄罗斯总统是谁"),
]
PASSED = [
    ("enable 2FA", "turn on 2FA"),
    ("reset my password", "how can I reset the password"),
    ("order #123", "order no. 123"),
    ("What is the capital of France?", "Tell me the capital of France"),
    ("order one hundred twenty three", "order １２３"),
]


@pytest.mark.parametrize(("question", "stored"), REFUSED)
def test_they_are_refused(question: str, stored: str) -> None:
    """Near in the vector space, and another question all the same."""
    assert check(question, stored) is not None
    assert check(stored, question) is not None


@pytest.mark.parametrize(("question", "stored"), PASSED)
def test_their_harmless_neighbours_pass(question: str, stored: str) -> None:
    """The guard does not cost the hits that a semantic cache is for."""
    assert check(question, stored) is None
    assert check(stored, question) is None
