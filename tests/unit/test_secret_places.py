"""Secrets of many providers in the places where people leave them are masked; what only resembles them is not."""

from __future__ import annotations

import pytest

from atlas._parser import find_secrets, mask_secrets
from tests.bench.secret_places import Sample, harmless, secrets

SEEDS = (7, 8, 9)
PROMISED = 0.97
"""Share of the secrets of one seed: a few random passwords read like words."""


@pytest.mark.parametrize("seed", SEEDS)
def test_secrets_are_masked_wherever_they_are(seed: int) -> None:
    found = list(secrets(seed))
    missed = [one.id for one in found if not one.is_masked()]
    assert len(found) >= 400 and len(missed) <= (1 - PROMISED) * len(found), missed


@pytest.mark.parametrize("seed", SEEDS)
def test_what_resembles_a_secret_is_not_masked(seed: int) -> None:
    plain = list(harmless(seed))
    wrong = [(one.id, one.text, find_secrets(one.text.encode())) for one in plain if one.is_masked()]
    assert len(plain) >= 200 and not wrong


def test_every_kind_of_place_is_found() -> None:
    """No shape and no place is missed as a whole."""
    kinds: dict[str, list[Sample]] = {}
    for seed in range(20, 30):
        for one in secrets(seed):
            kinds.setdefault(one.id, []).append(one)
    missed = {kind for kind, found in kinds.items() if sum(one.is_masked() for one in found) * 2 < len(found)}
    assert len(kinds) >= 400 and not missed


def test_masking_keeps_length_lines_and_what_is_between_parts() -> None:
    for one in secrets():
        data = one.text.encode()
        masked = mask_secrets(data)
        assert (len(masked), masked.count(b"\n")) == (len(data), data.count(b"\n")), one.id
        if "split" in one.id:
            assert [masked.count(sign) for sign in (b'"', b"'", b"+")] == [
                data.count(sign) for sign in (b'"', b"'", b"+")
            ]
