"""Who may open a directory, and what happens to it."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from langchain_semcache.errors import (
    ConfigurationError,
    IndexUnavailable,
    SchemaMismatch,
)
from langchain_semcache.index import _edge_directory
from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import NOW, make_entry, unit

AXIS = unit([1, 0, 0, 0])


def run_child(code, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.fixture
def open_index(tmp_path):
    opened = []

    def make(directory=tmp_path / "store", dimension=4, **settings):
        index = QdrantEdgeIndex(directory, dimension=dimension, **settings)
        opened.append(index)
        return index

    yield make
    for index in opened:
        index.close()


def test_constructing_touches_nothing(tmp_path):
    QdrantEdgeIndex(tmp_path / "store", dimension=4)
    assert not (tmp_path / "store").exists()


def test_what_was_stored_is_there_after_reopening(open_index):
    first = open_index()
    first.put(make_entry(1), AXIS)
    first.put(make_entry(2), None)
    first.close()
    again = open_index()
    assert again.fetch(make_entry(2).id, now=NOW) == make_entry(2)
    (found,) = again.search("partition-a", AXIS, limit=5, now=NOW)
    assert found.entry == make_entry(1)


def test_two_objects_on_one_directory_share_its_entries(open_index, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "store")
    one, two = open_index(), open_index(tmp_path / "link")
    one.put(make_entry(1), AXIS)
    assert two.fetch(make_entry(1).id, now=NOW) == make_entry(1)
    one.close()
    assert two.fetch(make_entry(1).id, now=NOW) == make_entry(1)


def test_a_closed_index_says_so(open_index):
    index = open_index()
    index.open()
    index.close()
    index.close()
    with pytest.raises(IndexUnavailable, match="closed"):
        index.fetch("x", now=NOW)
    with pytest.raises(IndexUnavailable, match="closed"):
        index.put(make_entry(1), AXIS)


def test_closing_what_was_never_opened_is_harmless(open_index, tmp_path):
    open_index().close()
    assert not (tmp_path / "store").exists()


OPEN = """
    import sys
    from langchain_semcache.errors import StoreLocked
    from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
    index = QdrantEdgeIndex(sys.argv[1], dimension=4)
    try:
        index.open()
    except StoreLocked as error:
        print("locked", error)
    else:
        print("opened")
"""


def test_a_second_process_is_told_that_the_store_is_locked(open_index, tmp_path):
    index = open_index()
    index.put(make_entry(1), AXIS)
    child = run_child(OPEN, tmp_path / "store")
    assert child.stdout.startswith("locked")
    assert str(tmp_path / "store") in child.stdout
    assert "Qdrant server" in child.stdout
    assert index.fetch(make_entry(1).id, now=NOW) is not None
    index.close()
    assert run_child(OPEN, tmp_path / "store").stdout == "opened\n"


def test_leaving_without_close_prints_nothing_and_loses_nothing(open_index, tmp_path):
    child = run_child(
        """
        import sys
        from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
        from langchain_semcache.testing.index_values import make_entry
        index = QdrantEdgeIndex(sys.argv[1], dimension=4)
        index.put(make_entry(1), None)
        """,
        tmp_path / "store",
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")
    assert open_index().fetch(make_entry(1).id, now=NOW) == make_entry(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_is_refused_and_the_parent_goes_on(open_index, tmp_path):
    child = run_child(
        """
        import os, sys
        from langchain_semcache.errors import IndexUnavailable, StoreLocked
        from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
        from langchain_semcache.records import Selection
        from langchain_semcache.testing.index_values import NOW, make_entry
        index = QdrantEdgeIndex(sys.argv[1], dimension=4)
        index.put(make_entry(1), None)
        if os.fork() == 0:
            calls = [
                lambda: index.fetch("x", now=NOW),
                lambda: index.put(make_entry(2), None),
                lambda: index.remove(Selection()),
                lambda: index.trim(0, namespace="", now=NOW),
                lambda: index.describe(),
                lambda: QdrantEdgeIndex(sys.argv[1], dimension=4).open(),
            ]
            for call in calls:
                try:
                    call()
                    print("no error", flush=True)
                except (IndexUnavailable, StoreLocked) as error:
                    print(type(error).__name__, "was forked" in str(error), flush=True)
            index.close()
            sys.exit(0)
        _, status = os.wait()
        print(status, index.fetch(make_entry(1).id, now=NOW) == make_entry(1))
        """,
        tmp_path / "store",
    )
    lines = child.stdout.splitlines()
    assert lines == [*["IndexUnavailable True"] * 5, "StoreLocked False", "0 True"]
    assert child.stderr == ""


def test_another_dimension_is_refused_and_nothing_is_lost(open_index):
    index = open_index()
    index.put(make_entry(1), AXIS)
    with pytest.raises(SchemaMismatch, match=r"dimension 4.* needs 8"):
        open_index(dimension=8).open()
    index.close()
    with pytest.raises(SchemaMismatch, match=r"dimension 4.* needs 8"):
        open_index(dimension=8).open()
    assert open_index().fetch(make_entry(1).id, now=NOW) == make_entry(1)


def test_a_directory_with_other_contents_is_refused_and_left_alone(open_index, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"something else \(thesis.txt\)"):
        open_index(tmp_path).open()
    assert [child.name for child in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_path_that_is_no_directory_is_one_clear_error(open_index, tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "store", Path("/proc/semcache")):
        with pytest.raises(ConfigurationError, match="cannot be used") as caught:
            open_index(path).open()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[]", '{"generation": "g-x"}', '{"unknown": 1}'])
def test_an_unreadable_manifest_is_an_error_and_no_reason_to_delete(open_index, tmp_path, text):
    index = open_index()
    index.put(make_entry(1), AXIS)
    index.close()
    manifest = tmp_path / "store" / "manifest.json"
    good = manifest.read_text()
    manifest.write_text(text)
    with pytest.raises(ConfigurationError, match=r"manifest\.json"):
        open_index().open()
    manifest.write_text(good)
    assert open_index().fetch(make_entry(1).id, now=NOW) == make_entry(1)


def test_a_store_of_another_format_is_refused(open_index, tmp_path):
    index = open_index()
    index.open()
    index.close()
    manifest = tmp_path / "store" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 99}))
    with pytest.raises(SchemaMismatch, match="qdrant-edge 99"):
        open_index().open()


@pytest.fixture
def closed_store(open_index, tmp_path):
    """The directory of a store with one entry, closed."""
    index = open_index()
    index.put(make_entry(1), AXIS)
    index.close()
    return tmp_path / "store"


def contents(directory):
    return {
        path.relative_to(directory): path.read_bytes() if path.is_file() else None
        for path in directory.rglob("*")
        if path.name != "owner.lock"
    }


def make_generation(directory, name, mark):
    (directory / name / "segments").mkdir(parents=True)
    (directory / name / mark).write_bytes(b"langchain-semcache\n")
    return directory / name


@pytest.mark.parametrize("mark", ["semcache-unfinished", "semcache-generation"])
def test_what_a_killed_build_left_behind_goes_on_open(open_index, closed_store, mark):
    leftover = make_generation(closed_store, "g-leftove1", mark)
    again = open_index()
    assert again.fetch(make_entry(1).id, now=NOW) == make_entry(1)
    assert not leftover.exists()


def test_what_a_killed_first_opening_left_behind_goes_on_open(open_index, tmp_path):
    leftover = make_generation(tmp_path / "store", "g-leftove1", "semcache-unfinished")
    (tmp_path / "store" / "manifest.json.new").write_text("{")
    (tmp_path / "store" / "g-unmarked").mkdir()
    index = open_index()
    index.put(make_entry(1), AXIS)
    assert not leftover.exists()


@pytest.mark.parametrize("name", ["g-photos", "g-summer24", "g-holiday"])
@pytest.mark.parametrize("file", ["beach.jpg", "semcache-generation", "semcache-unfinished"])
def test_a_folder_of_the_user_is_never_removed(open_index, closed_store, tmp_path, name, file):
    """Whatever it is called and whatever lies in it: beside a store it is left alone."""
    for directory in (tmp_path / "home", closed_store):
        (directory / name).mkdir(parents=True)
        (directory / name / file).write_text("mine")
    with pytest.raises(ConfigurationError, match=rf"something else \({name}\)"):
        open_index(tmp_path / "home").open()
    assert [path.name for path in (tmp_path / "home").iterdir()] == [name]
    index = open_index()
    assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)
    index.build_graph()
    index.close()
    for directory in (tmp_path / "home", closed_store):
        assert (directory / name / file).read_text() == "mine"


@pytest.mark.parametrize("ours", ["owner.lock", "manifest.json.new"])
def test_a_lock_alone_makes_no_directory_ours(open_index, tmp_path, ours):
    (tmp_path / ours).write_text("")
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="something else"):
        open_index(tmp_path).open()
    assert {path.name for path in tmp_path.iterdir()} == {ours, "thesis.txt"}


def test_the_manifest_of_another_program_is_refused_before_anything_is_touched(
    open_index, tmp_path
):
    (tmp_path / "manifest.json").write_text('{"name": "my web page"}')
    with pytest.raises(ConfigurationError, match="another directory"):
        open_index(tmp_path).open()
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_a_store_without_its_manifest_is_an_error_and_stays_whole(open_index, closed_store):
    manifest = (closed_store / "manifest.json").read_text()
    (closed_store / "manifest.json").unlink()
    before = contents(closed_store)
    with pytest.raises(ConfigurationError) as caught:
        open_index().open()
    said = str(caught.value)
    assert str(closed_store) in said
    assert "restore it, or choose another directory" in said
    assert "\n" not in said
    assert contents(closed_store) == before
    (closed_store / "manifest.json").write_text(manifest)
    assert open_index().fetch(make_entry(1).id, now=NOW) == make_entry(1)


@pytest.mark.parametrize("name", ["../outside", "segments", "/etc", "", 3])
def test_a_manifest_cannot_name_what_is_no_generation(open_index, closed_store, name):
    manifest = closed_store / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "generation": name}))
    (closed_store.parent / "outside").mkdir()
    with pytest.raises(ConfigurationError, match=r"manifest\.json cannot be read"):
        open_index().open()


def test_an_interrupted_removal_is_completed_at_the_next_opening(
    open_index, closed_store, monkeypatch
):
    leftover = make_generation(closed_store, "g-leftove1", "semcache-generation")
    (leftover / "edge_config.json").write_text("{}")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: sys.exit("killed"))
        with pytest.raises(SystemExit):
            _edge_directory.remove_generation(leftover)
    assert (leftover / "semcache-generation").exists()
    open_index().open()
    assert not leftover.exists()


def test_a_corrupt_record_is_left_out_of_search_and_scan(open_index):
    import qdrant_edge

    from langchain_semcache.errors import CorruptEntry
    from langchain_semcache.index import schema

    index = open_index()
    index.put(make_entry(1), unit([1, 0.2, 0, 0]))
    payload = {**schema.to_payload(make_entry(2)), schema.FIELD_FORMAT: 99}
    point = qdrant_edge.Point(make_entry(2).id, {schema.VECTOR: AXIS.tolist()}, payload)
    index._opened().store.upsert([point])
    with pytest.raises(CorruptEntry):
        index.fetch(make_entry(2).id, now=NOW)
    (found,) = index.search("partition-a", AXIS, limit=1, now=NOW)
    assert found.entry == make_entry(1)
    assert [entry.id for entry in index.scan(Selection())] == [make_entry(1).id]
    assert index.remove(Selection()) == 2
