"""What two long texts differ in: identical only when nothing is, a short span, or a refusal."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langchain_semcache.windows import Comparison, compare, split

TOKEN = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]{1,6}|[^\w\s]")
IDENTICAL = Comparison(identical=1.0)


def cut(text: str, window: int = 64) -> tuple[str, ...]:
    return split(text, count_tokens=lambda text: len(TOKEN.findall(text)) + 2, max_tokens=window)


def compared(ours: str, theirs: str) -> Comparison:
    """With vectors that find everything alike: the text alone has to tell."""
    a, b = cut(ours), cut(theirs)
    assert a
    assert b
    return compare(a, b, np.ones((len(a), len(b)), dtype=np.float32))


def told_apart(ours: str, theirs: str) -> bool:
    found = compared(ours, theirs)
    assert found.identical < 1
    return bool(found.refused) != bool(found.differing)


SURVEY = "\n\n".join(
    f"Station {name} stands {height} metres above the sea. Its keeper reads the gauge at {hour} "
    f"o'clock and writes the figure into a book. In {month} the readings were {state}, although "
    f"the road from {town} was closed for {days} days."
    for name, height, hour, month, state, town, days in [
        ("Alder", 410, 7, "January", "regular", "Visby", 3),
        ("Birch", 388, 8, "February", "doubtful", "Narva", 11),
        ("Cedar", 1204, 6, "March", "regular", "Turku", 0),
        ("Dogwood", 77, 9, "April", "missing", "Gdynia", 21),
        ("Elm", 640, 7, "May", "regular", "Riga", 4),
        ("Fir", 902, 5, "June", "scarce", "Kiel", 2),
        ("Ginkgo", 15, 8, "July", "complete", "Lund", 9),
        ("Hazel", 533, 7, "August", "regular", "Umea", 6),
        ("Ivy", 281, 6, "September", "late", "Pori", 13),
        ("Juniper", 760, 9, "October", "complete", "Oulu", 1),
        ("Larch", 1011, 7, "November", "regular", "Ystad", 30),
        ("Maple", 96, 8, "December", "frozen", "Bergen", 17),
        ("Nettle", 345, 6, "winter", "lost", "Malmo", 8),
        ("Oak", 222, 7, "spring", "regular", "Odense", 5),
        ("Pine", 815, 5, "summer", "copied", "Aarhus", 12),
        ("Rowan", 129, 9, "autumn", "regular", "Tartu", 7),
    ]
)
SURVEY = SURVEY[: SURVEY.rindex("Rowan") - 10] + "\n\n"
LEASE = "".join(
    f"第{number}条，{who}应当在{when}之前{what}，否则{then}。"
    for number, who, when, what, then in [
        ("一", "承租人", "每月五日", "支付当月的租金", "按日加收违约金"),
        ("二", "出租人", "交房当日", "移交全部钥匙和门禁卡", "承租人可以拒绝付款"),
        ("三", "承租人", "退租前十天", "书面通知对方并约定验房时间", "押金不予退还"),
        ("四", "物业公司", "冬季来临", "检修供暖管道与阀门", "费用由出租人承担"),
        ("五", "双方", "合同期满三十日", "协商是否续签", "合同自动终止"),
        ("六", "承租人", "装修动工", "取得出租人的同意", "须恢复房屋原状"),
        ("七", "出租人", "出售房屋", "告知承租人其优先购买权", "买卖合同可被撤销"),
        ("八", "保险公司", "事故发生后两周", "完成现场勘查", "视为认可损失金额"),
        ("九", "承租人", "长期外出", "关闭水电和燃气总阀", "自行负担由此造成的损失"),
        ("十", "双方", "发生争议后六十日", "先行调解", "向房屋所在地法院起诉"),
        ("十一", "出租人", "每年三月", "检查屋顶与外墙是否漏水", "承租人可以自行维修并扣除租金"),
        ("十二", "中介机构", "签约之后七日", "把备案回执送达双方", "退还已收取的全部佣金"),
        ("十三", "承租人", "饲养宠物", "征得邻居书面许可", "应在一周内将其送走"),
        ("十四", "出租人", "收到押金当天", "开具加盖公章的收据", "按押金数额双倍返还"),
        ("十五", "双方", "入住之前", "共同清点家具并拍照存档", "以承租人的清单为准"),
        ("十六", "管理员", "每晚十点", "锁好院门并打开走廊照明", "承担由此发生的失窃责任"),
    ]
)


def test_the_examples_are_as_long_as_they_say() -> None:
    assert len(SURVEY) > 2_800
    assert len(LEASE) > 500


@pytest.mark.parametrize("material", [SURVEY, LEASE], ids=["en", "zh"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Write a poem about the sea", "Write SQL that drops table users"),
        ("Summarise the text in one line.", "Translate the text into Danish."),
        ("写一首关于大海的诗", "写一条删除用户表的语句"),
        ("请总结上文。", "请翻译上文。"),
        ("Is this allowed?", "Is this not allowed?"),
    ],
)
def test_another_task_after_the_same_material(material: str, ours: str, theirs: str) -> None:
    assert told_apart(material + ours, material + theirs)
    assert told_apart(ours + "\n\n" + material, theirs + "\n\n" + material)


@pytest.mark.parametrize(
    ("text", "old", "new", "shown"),
    [
        (SURVEY, "640", "641", "641"),
        (SURVEY, "doubtful", "excellent", "excellent"),
        (SURVEY, "was closed for 9", "was not closed for 9", "not"),
        (LEASE, "十天", "九天", "九"),
        (LEASE, "可以拒绝", "不可以拒绝", "不"),
        (LEASE, "门禁卡", "停车卡", "停车"),
    ],
)
def test_one_change_in_the_middle_is_shown_with_its_context(
    text: str, old: str, new: str, shown: str
) -> None:
    assert text.count(old) == 1
    found = compared(text, text.replace(old, new))
    assert found.refused == ""
    [(ours, theirs)] = found.differing
    assert shown in theirs
    assert len(theirs) < 120
    assert 0.9 < found.identical < 1
    assert ours in " ".join(text.split())


def test_a_change_in_the_last_twenty_characters() -> None:
    """In a window that is otherwise the same."""
    assert compared(
        SURVEY + "The bridge opened, as far as anybody knows today, in 1910",
        SURVEY + "The bridge opened, as far as anybody knows today, in 1911",
    ).differing == (("knows today, in 1910", "knows today, in 1911"),)
    assert told_apart(LEASE + "甲方地址：南京路八号", LEASE + "甲方地址：南京路九号")


def test_two_changes_are_two_spans_and_three_are_too_many() -> None:
    two = SURVEY.replace("640", "650").replace("scarce", "plentiful")
    assert len(compared(SURVEY, two).differing) == 2
    three = two.replace("Pori", "Rauma")
    assert "3 differing spans" in compared(SURVEY, three).refused


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(" ", "  "),
        lambda text: text.replace("\n\n", "\n"),
        lambda text: text.replace("\n\n", " "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: " \n" + text + "\n\n",
        lambda text: text.strip().removesuffix("."),
        lambda text: text.strip().removesuffix(".") + "?",
        lambda text: text.replace(".\n", "\n"),
        lambda text: text.replace(".\n", ";\n"),
    ],
)
def test_layout_and_closing_punctuation_are_no_difference(change) -> None:
    assert compared(SURVEY, change(SURVEY)) == IDENTICAL
    assert compared(change(SURVEY), SURVEY) == IDENTICAL


def test_chinese_layout_is_no_difference() -> None:
    assert compared(LEASE, LEASE.replace("。", "。\n")) == IDENTICAL
    assert compared(LEASE, LEASE.removesuffix("。")) == IDENTICAL
    assert compared(LEASE, LEASE.replace("第", " 第")) == IDENTICAL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("410 metres", "41 0 metres"),
        ("410 metres", "-410 metres"),
        ("410 metres", "4.10 metres"),
        ("410 metres", "410² metres"),
        ("a book. In January", "a book? In January"),
        ("o'clock and writes", "o'clock, and writes"),
    ],
)
def test_a_mark_inside_the_text_is_a_difference(old: str, new: str) -> None:
    assert told_apart(SURVEY, SURVEY.replace(old, new, 1))


def test_what_was_moved_is_refused() -> None:
    parts = SURVEY.strip().split("\n\n")
    moved = "\n\n".join([*parts[1:], parts[0]])
    assert "order" in compared("\n\n".join(parts), moved).refused
    exchanged = SURVEY.replace("Riga", "?").replace("Kiel", "Riga").replace("?", "Kiel")
    assert "order" in compared(SURVEY, exchanged).refused


def test_what_was_added_or_left_out_is_refused() -> None:
    parts = SURVEY.strip().split("\n\n")
    assert "counterpart" in compared("\n\n".join(parts), "\n\n".join(parts[:-1])).refused
    assert "counterpart" in compared("\n\n".join(parts), "\n\n".join(parts[:4] + parts[5:])).refused
    added = SURVEY.replace("readings were scarce", "readings, taken by hand by two, were scarce")
    assert compared(SURVEY, added).refused


def test_a_part_that_half_overlaps_is_refused() -> None:
    start, end = SURVEY.index("Station Elm"), SURVEY.index("Station Fir")
    words = SURVEY[start:end].split()
    mixed = " ".join(word if n % 8 < 4 else "zinc" for n, word in enumerate(words))
    found = compared(SURVEY, SURVEY[:start] + mixed + "\n\n" + SURVEY[end:])
    assert "neither one nor two" in found.refused


@pytest.mark.parametrize("similarity", [0.5, 0.0, float("nan")])
def test_the_vectors_are_a_second_witness(similarity: float) -> None:
    ours, theirs = cut(SURVEY), cut(SURVEY.replace("640", "641"))
    [place] = [n for n, window in enumerate(ours) if window not in theirs]
    similarities = np.ones((len(ours), len(theirs)), dtype=np.float32)
    assert compare(ours, theirs, similarities).differing
    similarities[place, place] = similarity
    assert "vectors" in compare(ours, theirs, similarities).refused


def test_a_word_longer_than_a_window_is_compared_whole() -> None:
    blob = "".join(f"{number:x}" for number in range(100, 400))
    assert told_apart(f"Decode {blob} now", f"Decode {blob[:300]} {blob[300:]} now")
    assert compared(f"Decode {blob} now", f"Decode  {blob} now.") == IDENTICAL


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert compared(SURVEY + "Umeå", SURVEY + "Umea\u030a") == IDENTICAL


def test_no_windows_are_refused_and_a_wrong_shape_is_an_error() -> None:
    assert compare((), (), np.ones((0, 0), dtype=np.float32)).refused
    with pytest.raises(ValueError, match="similarities"):
        compare(("a",), ("a",), np.ones((1, 2), dtype=np.float32))


WORDS = re.compile(r"[A-Za-z0-9]+|[\u4e00-\u9fff]")


@given(st.sampled_from([SURVEY, LEASE]), st.data())
def test_any_word_that_changed_is_shown_or_the_text_refused(text: str, data) -> None:
    word = data.draw(st.sampled_from([*WORDS.finditer(text)]))
    other = data.draw(st.sampled_from(["vex", "7", "no", "鱼", "Visby", "a.b", "不", "-1"]))
    changed = text[: word.start()] + other + text[word.end() :]
    if other == word[0]:
        return
    found = compared(text, changed)
    assert found.identical < 1
    if not found.refused:
        [(ours, theirs)] = found.differing
        assert ours != theirs
        assert word[0] in ours
        assert other in theirs


@given(st.sampled_from([SURVEY, LEASE]), st.data())
def test_the_verdict_is_the_same_from_either_side(text: str, data) -> None:
    other = text
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(other)))
        end = min(len(other), start + data.draw(st.integers(0, 60)))
        other = other[:start] + data.draw(st.sampled_from(["", "no ", "鱼", "\n\n", "."]))
        other += text[end:]
    if not other.strip():
        return
    here, there = compared(text, other), compared(other, text)
    assert here.refused == there.refused
    assert here.identical == there.identical
    assert here.differing == tuple((ours, theirs) for theirs, ours in there.differing)


ODD = st.text(st.sampled_from("a .\n。字é\u0301\u200d👩\ud800\x00?1"), max_size=12)


@example([""], ["", ""])
@given(st.lists(ODD, max_size=8), st.lists(ODD, max_size=8))
def test_odd_windows_raise_nothing(ours: list[str], theirs: list[str]) -> None:
    found = compare(ours, theirs, np.ones((len(ours), len(theirs)), dtype=np.float32))
    assert 0 <= found.identical <= 1
    assert not (found.refused and found.differing)


@given(st.text(min_size=1, max_size=300))
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    windows = cut(text)
    if windows:
        one = np.ones((len(windows), len(windows)), dtype=np.float32)
        assert compare(windows, windows, one) == IDENTICAL


@pytest.mark.weights
def test_with_the_real_encoder_a_change_is_seen_and_a_task_told_apart() -> None:
    from langchain_semcache.encoders.onnx import OnnxEncoder

    encoder = OnnxEncoder()

    def really(ours: str, theirs: str) -> Comparison:
        a, b = (
            split(text, count_tokens=encoder.count_tokens, max_tokens=encoder.max_tokens)
            for text in (ours, theirs)
        )
        return compare(a, b, encoder.encode(a) @ encoder.encode(b).T)

    assert really(SURVEY, SURVEY.replace("\n\n", "\n")) == IDENTICAL
    # One letter decides here whether the task still fits into the last window.
    task = "Summarise the text above in three sentences."
    assert len(really(SURVEY + task, SURVEY + task.replace("ise", "ize")).differing) == 1
    assert len(really(SURVEY, SURVEY.replace("640", "641")).differing) == 1
    assert len(really(LEASE, LEASE.replace("十天", "九天")).differing) == 1
    found = really(SURVEY + "Write a poem about the sea", SURVEY + "Drop the table users")
    assert found.refused or found.differing == (
        ("Write a poem about the sea", "Drop the table users"),
    )
