"""Characters that sound alike, from the table that ships."""

from langchain_semcache.verifiers._sounds import same_sound, sound


def test_characters_of_one_syllable_are_found_whatever_their_tone():
    assert sound("包") == sound("宝") == "bao"
    assert {"包", "宝", "报", "抱"} <= set(same_sound("包"))
    assert same_sound("包") == same_sound("宝")


def test_the_commonest_comes_first():
    assert same_sound("德")[0] == "的"


def test_what_is_not_in_the_table_sounds_like_itself():
    assert (sound("a"), same_sound("a")) == ("a", "a")
    assert (sound("㐂"), same_sound("㐂")) == ("㐂", "㐂")
