"""What can be seen of two questions without understanding them, by hand."""

import numpy as np
import pytest

from langchain_semcache.verifiers._lexical import WIDTH, marks, read_pieces, same_pieces

# The columns after the traits.
SAME, AFTER, BEFORE, REPEATED, LIKENESS, PLACE, MOVED, LENGTH = range(6, WIDTH)


def read(*pieces):
    return read_pieces(pieces, [-3.0] * len(pieces))


def test_pieces_are_joined_to_words_and_read_in_lower_case():
    found = read("▁How", "▁pass", "word", "s", "?", "▁3", ".", "11")
    assert found.keys == ("how", "pass", "word", "s", "?", "3", ".", "11")
    assert found.words == ("how", *["passwords"] * 3, "?", "3", ".", "11")


def test_traits_say_what_kind_of_piece_it_is():
    found = read_pieces(["▁Is", "▁3", "?", "密码"], [-1.5, -3.0, -7.5, -30.0])
    digit, mark, cjk, capital, begins = (0, 1, 2, 3, 4)
    assert found.traits.dtype == np.float32
    assert found.traits[:, digit].tolist() == [0, 1, 0, 0]
    assert found.traits[:, mark].tolist() == [0, 0, 1, 0]
    assert found.traits[:, cjk].tolist() == [0, 0, 0, 1]
    assert found.traits[:, capital].tolist() == [1, 0, 0, 0]
    assert found.traits[:, begins].tolist() == [1, 1, 0, 0]
    assert found.traits[:, 5] == pytest.approx([0.1, 0.2, 0.5, 1.0])


def test_the_same_pieces_are_found_wherever_they_stand():
    assert same_pieces(read("▁A", "▁b"), read("▁b", "▁c", "▁a")).tolist() == [
        [False, False, True],
        [True, False, False],
    ]


@pytest.mark.parametrize(("ours", "theirs"), [((), ("▁a",)), (("▁a",), ()), ((), ())])
def test_nothing_has_nothing_in_common(ours, theirs):
    one, other = read(*ours), read(*theirs)
    assert same_pieces(one, other).shape == (len(ours), len(theirs))
    found = marks(one, other)
    assert found.shape == (len(ours), WIDTH)
    assert not found[:, SAME:].any()


def test_marks_say_what_the_other_side_has():
    found = marks(read("▁to", "▁be", "▁be", "▁new"), read("▁old", "▁to", "▁be"))
    assert found[:, SAME].tolist() == [1, 1, 1, 0]
    assert found[:, AFTER].tolist() == [0, 1, 0, 0]
    assert found[:, BEFORE].tolist() == [1, 0, 0, 0]
    assert found[:, REPEATED].tolist() == [0, 1, 1, 1]
    assert found[:, PLACE].tolist() == [0, 0.25, 0.5, 0.75]
    assert found[:, MOVED] == pytest.approx([1 / 3, 2 / 3 - 0.25, 2 / 3 - 0.5, 0])
    assert found[:, LENGTH] == pytest.approx([0.1] * 4)


def test_typing_errors_are_alike_and_other_words_are_not():
    found = marks(read("▁password", "▁pasword", "▁zoo"), read("▁password"))
    same, typo, other = found[:, LIKENESS]
    assert same == 1
    assert 0.8 < typo < 1
    assert other == 0


def test_chinese_is_alike_by_its_characters():
    assert marks(read("密码"), read("码", "的"))[0, LIKENESS] == 0.5


def test_a_matrix_that_is_known_already_changes_nothing():
    """To the bit: the model was trained on these numbers."""
    one = read("▁How", "▁do", "▁I", "▁do", "▁it", "?", "密码")
    other = read("▁do", "▁it", "▁now", "密", "码", "?")
    same = same_pieces(one, other)
    assert marks(one, other, same).tobytes() == marks(one, other).tobytes()
    assert marks(other, one, same.T).tobytes() == marks(other, one).tobytes()


def test_a_character_that_sounds_alike_is_nearly_there():
    ours, theirs = read("▁支付包", "账号"), read("▁支付宝", "帐号")
    found = marks(ours, theirs)[:, LIKENESS]
    assert found[0] == pytest.approx((1 + 1 + 0.8) / 3)
    assert found[1] == pytest.approx((0.8 + 1) / 2)
    assert marks(read("▁支付猫"), theirs)[0, LIKENESS] == pytest.approx(2 / 3)
