from __future__ import annotations

from datetime import timedelta

import pytest

from langchain_semcache import ConfigurationError, Semcache, SemcacheConfig
from langchain_semcache.config import without_password


def test_every_setting_has_a_default_that_works():
    config = SemcacheConfig()
    assert config.location == "./.semcache"
    assert config.ttl == timedelta(days=1)
    assert config.similarity_threshold is None


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("similarity_threshold", -0.1),
        ("similarity_threshold", 0),
        ("similarity_threshold", 1.5),
        ("similarity_threshold", "0.9"),
        ("similarity_threshold", float("nan")),
        ("similarity_threshold", True),
        ("neighbours", 0),
        ("ttl", -1),
        ("ttl", True),
        ("max_entries", 0),
        ("deadline_seconds", 0),
        ("deadline_seconds", float("inf")),
        ("location", ""),
        ("location", "htp://qdrant:6333"),
        ("location", "a\0b"),
        ("location", "grpc://qdrant:6334"),
        ("location", "http//user:s3cr3t@host:6333"),
        ("location", "http:/host:6333"),
        ("location", "http://127.0.0.1:99999"),
        ("location", "http://127.0.0.1:notaport"),
        ("location", "http://[::1"),
        ("location", "http://"),
        ("max_entries", True),
        ("max_entries", "3"),
        ("neighbours", "3"),
        ("neighbours", 2.0),
        ("strict", "yes"),
        ("strict", 1),
        ("tenant", 42),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_setting(setting, value):
    with pytest.raises(ConfigurationError, match=setting) as raised:
        SemcacheConfig.of(**{setting: value})
    assert "\n" not in str(raised.value)


def test_an_unknown_setting_is_named_beside_those_that_exist():
    with pytest.raises(ConfigurationError, match=r"treshold is not a setting; .*similarity_thresh"):
        SemcacheConfig.of(treshold=0.9)


def test_a_nested_setting_is_named_by_its_path():
    with pytest.raises(ConfigurationError, match=r"^key\.temperature_digits"):
        SemcacheConfig.of(key={"temperature_digits": -1})
    with pytest.raises(ConfigurationError, match=r"query_from.*question"):
        SemcacheConfig.of(key={"query_from": "no (.*) group"})


def test_an_unknown_nested_setting_is_named_beside_its_own_neighbours():
    with pytest.raises(ConfigurationError, match=r"qdrant\.nope is not a setting; .*prefer_grpc"):
        SemcacheConfig.of("http://q:6333", qdrant={"nope": 1})


def test_a_configuration_can_be_overridden_in_part():
    base = SemcacheConfig(location=":memory:", neighbours=5)
    changed = SemcacheConfig.of(base, neighbours=7)
    assert (changed.location, changed.neighbours) == (":memory:", 7)


def test_a_configuration_is_frozen():
    with pytest.raises(ValueError, match="frozen"):
        SemcacheConfig().neighbours = 4


def test_secrets_are_hidden(tmp_path):
    config = SemcacheConfig.of("http://qdrant:6333", qdrant={"api_key": "sk-secret"})
    assert "sk-secret" not in repr(config) + str(config.model_dump())
    with pytest.raises(ConfigurationError) as raised:
        SemcacheConfig.of("./dir", qdrant={"api_key": "sk-secret"})
    assert "sk-secret" not in str(raised.value)
    assert "location" in str(raised.value)


def test_the_password_of_a_url_is_hidden():
    assert "s3cr3t" not in repr(SemcacheConfig(location="https://user:s3cr3t@host:6333"))


def test_a_scheme_may_be_written_in_capitals():
    assert SemcacheConfig(location="HTTP://host:6333").is_url


def test_a_home_directory_may_be_written_short(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with Semcache.open("~/cache", encoder="hash"):
        assert (tmp_path / "cache").is_dir()


def test_settings_come_from_a_file(tmp_path):
    path = tmp_path / "semcache.toml"
    path.write_text('location = ":memory:"\nttl = 60\n[key]\ntop_p_digits = 1\n')
    config = SemcacheConfig.from_file(path)
    assert (config.location, config.ttl, config.key.top_p_digits) == (
        ":memory:",
        timedelta(minutes=1),
        1,
    )


@pytest.mark.parametrize("text", ["not toml at all", "neighbours = 0", "colour = 1"])
def test_a_bad_file_is_one_clear_error(tmp_path, text):
    path = tmp_path / "semcache.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        SemcacheConfig.from_file(path)
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match=r"absent\.toml cannot be read"):
        SemcacheConfig.from_file(tmp_path / "absent.toml")


def test_the_location_of_a_configuration_can_be_overridden_too():
    assert SemcacheConfig.of(SemcacheConfig(neighbours=5), location=":memory:").neighbours == 5


def test_an_encoder_can_be_named_where_a_cache_is_opened():
    with Semcache.open(":memory:", encoder="hash") as cache:
        assert cache.stats().encoder.startswith("tokenizer-hash")
    with pytest.raises(ConfigurationError, match="is called 'hashh'"):
        Semcache.open(":memory:", encoder="hashh")


@pytest.mark.parametrize(
    "text",
    [
        "http://user:s3cr3t@host:6333",
        "HTTPS://s3cr3t@host",
        "http//user:s3cr3t@host",
        "user:s3cr3t@host/path",
        "http://user:s3cr/3t@host is wrong",
        "{'http://user:s3cr3t@host': None}",
    ],
)
def test_a_password_is_hidden_however_its_url_is_written(text):
    hidden = without_password(text)
    assert "s3cr" not in hidden
    assert "host" in hidden


@pytest.mark.parametrize("text", ["http://host:6333/a", "12:30", "a: b", "mail me@example.org"])
def test_what_holds_no_password_stays(text):
    assert without_password(text) == text
