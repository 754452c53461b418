"""Notes: any bytes become a note or problems, and the positions lie within the bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from atlas._parser import parse_note
from tests.fuzz.target import Target

ULID = "01JD2V9Q7K4M8N3P5R6S7T8V9W"
CLAIM = f"""---
id: c-{ULID}
kind: claim # a comment
confidence: 0.8
source: "doi:10.48550/arXiv.1706.03762"
status: disputed
created: 2026-11-23T10:04:11Z
author: {{client: claude-code/2.1, agent: session}}
about: [{{symbol: pkg.attn.forward, body: 3e20aa55bb66cc77, path: pkg/attn.py, line: 41}}]
relations:
  - type: supports
    to: d-{ULID}
    reasoning: >-
      same experiment,
      larger n
    confidence: 0.9
own_key: {{kept: true}}
---
Attention scales quadratically. Größe: 日本語.
"""
ENTITY = f"""---
id: e-{ULID}
kind: entity
name: Billing team
aliases: [payments, 'the "others"']
relations: [{{type: OWNS, to: "symbol:shop.billing"}}]
---
# About

- 2026-11-20T09:00:00Z [o-{ULID}] Releases on Thursdays. (client: cursor)
- Plain.
  ```
  - code
  ```

Prose.
"""


class Notes(Target):
    name = "notes"
    words = (
        *(b"---\n", b"- ", b": ", b"? ", b"&a ", b"*a", b"!!str ", b"|\n", b">\n", b"[", b"]", b"{", b"}", b'"', b"'"),
        *(b"\xef\xbb\xbf", b"\x00", b"\r\n", b"\xff", b"%YAML 1.2\n", b"...\n", b"#", b"```\n", ULID.encode()),
    )

    def seeds(self) -> Sequence[bytes]:
        whole = [CLAIM.encode(), ENTITY.encode(), CLAIM.replace("\n", "\r\n").encode()]
        kinds = [CLAIM.replace("claim", "decision").replace("c-", "d-").encode(), CLAIM.encode("utf-16")]
        return [*whole, *kinds, b"---\n---\n", b"---\n{}\n---", b"# Text\n", b"", b"---\na: &x [*x]\n---\n"]

    def check(self, data: bytes) -> str:
        note = json.loads(parse_note(data))
        assert 0 <= note["front_end"] <= note["body"] <= len(data)
        assert bool(note["keys"]) <= bool(note["front_end"])
        end = 0
        for _, start, after in note["keys"]:
            assert end <= start < after <= note["front_end"]
            assert data[start - 1 : start] == b"\n"
            end = after
        end = note["body"]
        for one in note["observations"]:
            assert end <= one["start"] < one["end"] <= len(data)
            end = one["end"]
        assert 0 <= note["confidence"] <= 1
        assert note["problems"] or (note["kind"] and note["id"])
        return note["kind"] or note["problems"][0][1]
