"""Each clause of `verify` is needed: without it, and with all others in force, some lie would be believed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

import pytest

from memoryreview.core.classify import invariants
from memoryreview.core.classify import verify as verifier
from memoryreview.core.model import Context, Ended, Evidence, FormatName, History, Kind, Limits, Proof, Rewrite
from memoryreview.core.text import apply_rewrites

CLAUDE = Context(format=FormatName.CLAUDE)
CODEX = Context(format=FormatName.CODEX)
HERMES = Context(format=FormatName.HERMES)

HEAD = "staging goes first and the team watches the dashboard for the whole morning, then the release branch is tagged"
HEAD += " and the notes are published on the page of the team"
TAIL = "and at the end the on-call engineer writes the summary for the team channel"


@dataclass(frozen=True)
class Lie:
    """A proof that only one clause sees through.

    Args:
        text: the document; each part between `{` and `}` is what a rewrite replaces.
        others: further documents of the base, in which parts may be marked too; those in `added` get text at their end
            by the same proof.
        beside: what the proposed tree holds besides the proof.
    """

    rule: Kind
    clause: str
    text: str | bytes
    new: str = ""
    path: str = "a.md"
    context: Context = field(default_factory=Context)
    version: int = 1
    others: dict[str, str] = field(default_factory=dict)
    added: dict[str, str] = field(default_factory=dict)
    beside: dict[str, bytes] = field(default_factory=dict)

    def claim(self) -> tuple[dict[str, bytes], dict[str, bytes], Proof]:
        marked = {self.path: self.text if isinstance(self.text, bytes) else self.text.encode()}
        marked |= {path: text.encode() for path, text in self.others.items()}
        base = {path: re.sub(rb"[{}]", b"", text) for path, text in marked.items()}
        rewrites = [rewrite for path, text in marked.items() for rewrite in _replacing(path, text, self.new)]
        rewrites += [Rewrite(p, len(base[p]), len(base[p]), text.encode()) for p, text in self.added.items()]
        rewrites.sort(key=lambda rewrite: rewrite.path)
        proposed = {p: apply_rewrites(data, [r for r in rewrites if r.path == p]) for p, data in base.items()}
        return base, proposed | self.beside, Proof(self.rule, self.version, tuple(rewrites))


def _replacing(path: str, marked: bytes, new: str) -> Iterator[Rewrite]:
    start = 0
    for index, part in enumerate(re.split(rb"[{}]", marked)):
        if index % 2:
            yield Rewrite(path, start, start + len(part), new.encode())
        start += len(part)


def row(tail: str, head: str = HEAD, mark: str = ", ") -> str:
    return f"- [Release flow](release.md) — {head}{{{mark}{tail}}}\n"


def trim(clause: str, tail: str = TAIL, target: str | None = None, **more: object) -> Lie:
    text = more.pop("text", None) or row(tail)
    lie = Lie(
        Kind.INDEX_TRIM, clause, str(text), "…", "MEMORY.md", CLAUDE, others={"release.md": target or f"{tail}.\n"}
    )
    return replace(lie, **more)  # type: ignore[arg-type]  # fields of Lie


def prune(clause: str, text: str, gone: str | None = "gone.md", to: str = "", **more: object) -> Lie:
    """Args: gone: the document that went, whose text was its name; to: what it was renamed to."""
    ended = {path: Ended(path, "", hashlib.sha256(path.encode()).hexdigest(), to) for path in (gone, "lost.md") if path}
    context = Context(format=FormatName.CLAUDE, history=History(ended=ended) if gone else None)
    lie = Lie(Kind.INDEX_PRUNE, clause, text, path="MEMORY.md", context=context)
    return replace(lie, **more)  # type: ignore[arg-type]  # fields of Lie


def moved(clause: str, text: str, new: str, *gone: Ended, **more: object) -> Lie:
    """Args: gone: documents that went, beside `old.md`, whose bytes are `new.md` now."""
    ended = {each.path: each for each in (Ended("old.md", "", digest(HEADED), "new.md"), *gone)}
    context = Context(format=FormatName.CLAUDE, history=History(ended=ended))
    lie = Lie(Kind.LINK_RETARGET, clause, text, new, "n/a.md", context, others={"new.md": HEADED, "n/b.md": "B.\n"})
    return replace(lie, **more)  # type: ignore[arg-type]  # fields of Lie


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def checked(clause: str, text: str = "verified_at: {2026-05-19}", new: str = "2026-06-01", **more: object) -> Lie:
    context = Context(now=datetime(2026, 6, 1, 12, tzinfo=UTC), evidence=Evidence.FOUND)
    lie = Lie(Kind.VERIFIED_UPDATE, clause, f"---\nname: a\n{text}\n---\nBody.\n", new, context=context)
    return replace(lie, **more)  # type: ignore[arg-type]  # fields of Lie


def stamp(clause: str, text: str, new: str, **more: object) -> Lie:
    return checked(clause, text, new, rule=Kind.META_STAMP, **more)


def sync(clause: str, new: str = "", before: str = "", head: str | None = None, **more: object) -> Lie:
    """Args: new: the row that comes; before: the index, in which `{}` marks the place; head: of its document."""
    described = head or "name: Cache\ndescription: how it is warmed\n"
    own = {"cache.md": f"---\n{described}---\nText.\n"} | dict(more.pop("others", {}))  # type: ignore[call-overload]
    text = before or f"{PORTS}{{}}"
    lie = Lie(Kind.INDEX_SYNC, clause, text, new or CACHE, path="MEMORY.md", context=CLAUDE, others=own)
    return replace(lie, **more)  # type: ignore[arg-type]  # fields of Lie


def known(first: date | None) -> Context:
    """Return a context whose history has held the line of `FAILED` since that day, or knows nothing of it."""
    line = "a.md", b"- Yesterday the rollout failed"
    return Context(history=History(first_approved={line: first} if first else {}))


DEAD = "".join(f"- [X](x{i}.md): x\n" for i in range(6))
HEADED = "# Warm up\n"
NAMED = "---\nname: warm\n---\n"
WARM = Ended("old.md", "warm", digest(HEADED), "new.md")
A = Ended("old.md", "", digest(HEADED), "new a.md")
N = Ended("old.md", "", digest(NAMED), "new.md")
NEW = "../new.md"
EXACT, ROW, DATE, BLANK = Kind.DEDUPE_EXACT, Kind.DEDUPE_INDEX, Kind.DATE_NORMALIZE, Kind.FORMAT_BLANK
CACHE = "- [Cache](cache.md): how it is warmed\n"
PORTS, GONE, LOST = "- [Ports](ports.md): where\n", "- [Gone](gone.md): when\n", "- [Lost](lost.md): who\n"
HEAD_OF_CACHE = "---\nname: Cache\ndescription: how it is warmed\n---\nText.\n"
IN_FOLDER = "- [Cache](n/cache.md): how it is warmed\n"
COPY = "cache.sync-conflict-20260324-101112-ABCDEFG.md"
LONG = (
    "x, "
    + "the night job on the second host warms it and then the deploy script on the first one does it again, " * 2
    + "y"
)
REPEAT = "- use pnpm\n- use make\n{- use pnpm\n}"
FULL = "moved {1/13/2025} at last\n\n" + f"- {'y' * 249}\n" * 99 + f"- {'z' * 24}\n"  # to the last of 25,000 bytes
DAY = "# 2026-05-20\n\n"
FAILED = f"{DAY}- {{Yesterday}} the rollout failed\n"
MERGE = "\n<<<<<<< HEAD\nfive\n=======\nsix\n>>>>>>> other\n"
ITALIAN = "prima viene la prova e il gruppo guarda il pannello dei servizi per tutta la mattina con i capi"
ITALIAN += ", poi il ramo viene marcato e le note sono nella pagina"
ITALIAN_TAIL = "e il servizio scrive il riassunto della settimana nel canale"

LIES = [
    Lie(EXACT, "is_of_this_version", REPEAT, version=2),
    Lie(EXACT, "explains_every_byte", REPEAT, beside={"a.md": b"- use pnpm\n- use fake\n"}),
    Lie(EXACT, "explains_every_byte", REPEAT, others={"b.md": "x\n"}, beside={"b.md": b"y\n"}),
    Lie(EXACT, "is_switched_on", REPEAT, context=Context(switched_off=frozenset({EXACT}))),
    Lie(EXACT, "is_no_promotion", REPEAT, context=Context(promoted_from="ana")),
    Lie(EXACT, "is_written_by_agents", REPEAT, path="raw_memories.md", context=CODEX),
    Lie(EXACT, "is_no_conflict_copy", REPEAT, path="a (conflicted copy 2026-03-24 070952).md"),
    Lie(EXACT, "is_no_conflict_copy", REPEAT, path="a.sync-conflict-20260324-101112-ABCDEFG.md"),
    Lie(EXACT, "is_no_conflict_copy", REPEAT, path="a (1).md"),
    Lie(EXACT, "is_no_conflict_copy", REPEAT, path="a - Copy.md"),
    Lie(EXACT, "is_no_conflict_copy", REPEAT, path="a.orig.md"),
    Lie(EXACT, "is_no_instruction", REPEAT, path="AGENTS.md"),
    Lie(EXACT, "is_no_instruction", REPEAT, path="app/AGENTS.override.md"),
    Lie(EXACT, "is_no_instruction", REPEAT, path=".cursor/rules/style.md"),
    Lie(EXACT, "is_no_instruction", REPEAT, path="style.instructions.md"),
    Lie(EXACT, "is_no_instruction", REPEAT, path="SOUL.md"),
    Lie(EXACT, "is_small", REPEAT, context=Context(limits=Limits(file_bytes=30))),
    Lie(EXACT, "is_text", "A a\n§\nB ".encode() + b"\xff" + "{\n§\nA a}".encode(), path="MEMORY.md", context=HERMES),
    Lie(EXACT, "has_no_merge_marks", REPEAT + MERGE),
    Lie(EXACT, "has_no_merge_marks", REPEAT + "\n<<<<<<< HEAD\nfive\n"),
    Lie(EXACT, "has_closed_head", "---\nname: open\n\n" + REPEAT),
    Lie(BLANK, "keeps_line_ends", "a\r\n{\r\n\r\n}b\r\n", "\n"),
    Lie(EXACT, "keeps_cited_lines", REPEAT, path="MEMORY.md", context=CODEX),
    Lie(EXACT, "keeps_cited_lines", "# Task Group: a\n\n" + REPEAT, path="MEMORY.md"),
    Lie(BLANK, "keeps_cited_lines", "v1{ }\n## User Profile\n", path="memory_summary.md", context=CODEX),
    Lie(DATE, "keeps_what_is_loaded", FULL, "2025-01-13", "MEMORY.md", CLAUDE),
    Lie(DATE, "keeps_structure", "{13. April 2025} it moved\n", "2025-04-13"),
    Lie(EXACT, "orphans_nothing", "- tools\n  - pnpm\n- hosts\n{- tools\n}  - make\n"),
    Lie(DATE, "keeps_links", "see [notes]({13/04/2025}) now\n", "2025-04-13"),
    # dedupe.exact
    Lie(EXACT, "removes_whole_lines", REPEAT, "- use fake\n"),
    Lie(EXACT, "takes_one_gap", "- use pnpm\n{\n- use pnpm\n\n}# End\n"),
    Lie(EXACT, "takes_one_gap", "A a\n§\nB b\n{§\nA a\n§\n}C c", path="MEMORY.md", context=HERMES),
    Lie(EXACT, "repeats_an_entry_that_stays", "- use pnpm\n{- use make\n}"),
    Lie(EXACT, "repeats_an_entry_that_stays", "- port 8080\n{- port 8088\n}"),
    Lie(EXACT, "repeats_an_entry_that_stays", "- use pnpm\n\n# Other\n\n- make\n{- use pnpm\n}"),
    Lie(EXACT, "repeats_an_entry_that_stays", "{- use pnpm\n}- use make\n- use pnpm\n"),
    Lie(EXACT, "repeats_an_entry_that_stays", "1. use pnpm\n{2. use pnpm\n}"),
    Lie(EXACT, "repeats_an_entry_that_stays", "A a\n§\nB b\n{§\nA a\n}and more", path="MEMORY.md", context=HERMES),
    Lie(EXACT, "is_no_boilerplate", "- [ ] call\n- b b\n{- [ ] call\n}"),
    Lie(EXACT, "is_no_boilerplate", "# Related\n\n- pnpm\n- b b\n{- pnpm\n}"),
    Lie(EXACT, "is_no_boilerplate", "See also:\n\n- pnpm\n- b b\n{- pnpm\n}"),
    Lie(EXACT, "has_no_lead_in_between", "- to the sink\n- and in\n  Production:\n  a b\n{- to the sink\n}"),
    Lie(EXACT, "has_no_lead_in_between", "- to the sink\n- and in\n  **Production**\n  a b\n{- to the sink\n}"),
    # dedupe.index
    Lie(EXACT, "leads_nothing", "- Dev\n- to the sink\n- Production\n{- to the sink\n}"),
    Lie(EXACT, "leads_nothing", "- a a\n- to the sink\n- b b ->\n{- to the sink\n}"),
    Lie(EXACT, "leads_nothing", "Dev:\n§\nuse fake\n§\nProd:{\n§\nuse fake}", path="MEMORY.md", context=HERMES),
    Lie(EXACT, "counts_nothing", "- push it\n- Step 2\n- b b\n{- Step 2\n}"),
    Lie(EXACT, "counts_nothing", "- push it\n- b b\n{- push it\n}- the above is wrong\n"),
    Lie(EXACT, "has_not_the_last_word", "- mode: on\n- mode: off now\n{- mode: on\n}"),
    Lie(EXACT, "has_not_the_last_word", "- keep the old host\n- keep the new host\n{- keep the old host\n}"),
    Lie(EXACT, "has_not_the_last_word", "- use pnpm\n- we use pnpm\n{- use pnpm\n}"),
    Lie(ROW, "removes_whole_lines", "- [A](a.md): x\n{- [A](a.md): x\n}", "- other words\n", "MEMORY.md", CLAUDE),
    Lie(ROW, "takes_one_gap", "- [A](a.md): x\n{\n- [A](a.md): x\n\n}# End\n", "", "MEMORY.md", CLAUDE),
    Lie(ROW, "repeats_a_row_that_stays", "- [A](a.md): x\n{- [B](b.md): x\n}", "", "MEMORY.md", CLAUDE),
    Lie(ROW, "repeats_a_row_that_stays", "- [A](a.md): x\n{- [A](a.md): y\n}", "", "MEMORY.md", CLAUDE),
    Lie(ROW, "repeats_a_row_that_stays", "{- [A](a.md): x\n}- [A](a.md): x\n", "", "MEMORY.md", CLAUDE),
    Lie(ROW, "repeats_a_row_that_stays", "- [A](a.md): x\n{- [A](a.md): x\n}", "", "notes.md", CLAUDE),
    # index.trim
    trim("shortens_hooks_alone", new="... more"),
    trim("shortens_hooks_alone", path="notes.md"),
    trim("fits_where_it_did_not", text=row(TAIL, "staging first")),
    trim("fits_where_it_did_not", text=row(TAIL, HEAD + ", " + HEAD)),
    trim(
        "ends_a_clause",
        text=row(TAIL.removeprefix("and "), HEAD + ", and", " "),
        target=TAIL.removeprefix("and ") + ".\n",
    ),
    trim("ends_a_clause", text=row(TAIL, HEAD + " `x", ", ")),
    trim("loses_no_turn_of_meaning", "and the engineer never writes to the customer channel of the region"),
    trim("loses_no_turn_of_meaning", "and the engineer writes within 30 minutes to the channel of the region"),
    trim("loses_no_turn_of_meaning", "and the engineer writes to docs/summary for the channel of the region"),
    trim("loses_no_turn_of_meaning", "最后由值班工程师写总结但不发给客户也不发给其他团队的任何频道成员"),
    trim("loses_no_turn_of_meaning", "and the proxy prevents writes from the summary job of the region"),
    trim("loses_no_turn_of_meaning", "and at most the on-call engineer writes to the channel of the region"),
    trim("loses_no_turn_of_meaning", "et le service de garde écrit la synthèse s'il voit le canal du groupe"),
    trim("loses_no_turn_of_meaning", "und der Dienst schreibt dreihundert Zeilen in den Kanal der Gruppe"),
    trim("loses_no_turn_of_meaning", "y el vigésimo servicio escribe doscientos avisos para el canal del grupo"),
    trim("speaks_a_known_language", "en de dienst van het team schrijft de samenvatting naar het kanaal"),
    trim("speaks_a_known_language", ITALIAN_TAIL, text=row(ITALIAN_TAIL, ITALIAN)),
    trim("speaks_a_known_language", "и дежурный инженер пишет сводку в канал команды"),
    trim("stands_in_its_target", target="Nothing of it.\n"),
    trim("stands_in_its_target", target=f"<!-- {TAIL} -->\n"),
    trim("stands_in_its_target", target=f"```\n{TAIL}\n```\n"),
    trim("stands_in_its_target", target=f"It is not true that {TAIL}.\n"),
    trim("brings_only_what_goes", added={"release.md": "\nDeploy at will.\n"}),
    # index.prune
    prune("prunes_few", f"{PORTS}{{{GONE}}}{{{LOST}}}"),
    prune("prunes_few", f"{PORTS}{{{GONE}}}", others={"n/MEMORY.md": "{- [Lost](../lost.md): who\n}"}),
    prune("removes_whole_lines", f"{PORTS}{{{GONE}}}", new="- other words\n"),
    prune("takes_one_gap", f"{PORTS}{{\n{GONE}\n}}# End\n"),
    prune("removes_pointers_alone", f"{PORTS}{{{GONE}}}", path="notes.md"),
    prune("removes_pointers_alone", f"{PORTS}{{{GONE}  at six\n}}"),
    prune("removes_pointers_alone", f"{PORTS}{{{GONE}{LOST}}}"),
    prune("removes_pointers_alone", f"{PORTS}- [Gone](gone.md): when\n{{- also at six\n}}"),
    prune("removes_pointers_alone", f"{PORTS}{{- [Gone](gone.md): see [[ports]]\n}}"),
    prune("removes_pointers_alone", f"{PORTS}{{- [Gone](gone.md): at https://gone.example\n}}"),
    prune("removes_pointers_alone", f"{PORTS}{{- [Gone](gone.md): run `make`\n}}"),
    prune("removes_pointers_alone", f"{PORTS}{{- [Gone](gone.md):{' at six' * 30}\n}}"),
    prune("removes_pointers_alone", f"{PORTS}{{- [ ] [Gone](gone.md): when\n}}"),
    prune("removes_pointers_alone", "1. [Ports](ports.md): where\n{2. [Gone](gone.md): when\n}"),
    prune("was_deleted_with_approval", f"{PORTS}{{{GONE}}}", gone=None),
    prune("was_deleted_with_approval", f"{PORTS}{{{GONE}}}", gone="other.md"),
    prune("was_deleted_with_approval", f"{PORTS}{{{GONE}}}", to="kept.md"),
    prune("was_deleted_with_approval", f"{PORTS}{{- [[lost]]: when\n}}", gone="old/lost.md"),
    prune("is_borne_by_nothing", f"{PORTS}{{{GONE}}}", others={"old/Gone.md": "x\n"}),
    prune("is_borne_by_nothing", f"{PORTS}{{{GONE}}}", others={"b.md": "---\nname: gone\n---\nx\n"}),
    prune("is_borne_by_nothing", f"{PORTS}{{{GONE}}}", others={"b.md": "gone.md"}),
    prune("leaves_a_whole_folder", f"{PORTS}{{{GONE}}}" + "".join(f"- [X](x{i}.md): x\n" for i in range(5))),
    # index.sync
    sync("adds_rows_alone", "- where it was\n", f"{PORTS}{{- where it is\n}}"),
    sync("adds_rows_alone", before=f"{PORTS}{{}}", path="notes.md"),
    sync("adds_rows_alone", "- [Cache](cache.md#six): how it is warmed\n"),
    sync("points_to_an_approved_document", others={"n/MEMORY.md": "", "n/cache.md": HEAD_OF_CACHE}, new=IN_FOLDER),
    sync("points_to_an_approved_document", CACHE.replace("cache.md", "AGENTS.md"), others={"AGENTS.md": HEAD_OF_CACHE}),
    sync("points_to_an_approved_document", CACHE.replace("cache.md", COPY), others={COPY: HEAD_OF_CACHE}),
    sync("points_to_an_approved_document", CACHE.replace("cache.md", "c.txt"), others={"c.txt": HEAD_OF_CACHE}),
    sync("says_what_its_head_says", "- [Cache](cache.md): how it is warmed by hand\n"),
    sync("says_what_its_head_says", "- [The cache](cache.md): how it is warmed\n"),
    sync("says_what_its_head_says", "- [cache](cache.md): warm #1\n", head="description: warm #1\n"),
    sync("says_what_its_head_says", "- [cache](cache.md): warm > cold\n", head="description: >\n  warm > cold\n"),
    sync("says_what_its_head_says", "- [cache](cache.md): a <b> c\n", head="description: a <b> c\n"),
    sync("says_what_its_head_says", "- [cache](cache.md): null\n", head="description: null\n"),
    sync("looks_like_most_rows", "- [Cache](cache.md) — how it is warmed\n"),
    sync("looks_like_most_rows", "- ★ [Cache](cache.md): how it is warmed\n"),
    sync("looks_like_most_rows", "- [[cache]]: how it is warmed\n"),
    sync("looks_like_most_rows", before=f"- [Tools](tools.md) — make\n{PORTS}{{}}"),
    sync("looks_like_most_rows", "- ★ [Cache](cache.md): how it is warmed\n", "- ★ [Ports](ports.md): where\n{}"),
    sync("looks_like_most_rows", "- [[cache]]: how it is warmed\n", "- [[ports|Ports]]: where\n{}"),
    sync(
        "follows_the_last_row",
        CACHE.replace("cache", "user_cache"),
        f"# A\n\n{PORTS}- [Tools](tools.md): make\n\n# B\n\n* [Me](user_me.md): who\n{{}}",
        others={"user_cache.md": HEAD_OF_CACHE},
    ),
    sync("follows_the_last_row", before=f"{{}}{PORTS}"),
    sync("follows_the_last_row", before=f"{PORTS}{{}}- [Tools](tools.md): make\n"),
    sync("follows_the_last_row", before=f"# A\n\n{PORTS}\n# B\n\n- [Tools](tools.md): make\n{{}}"),
    sync("follows_the_last_row", before=f"{PORTS}\nRetired:\n\n- [Tools](tools.md): make\n{{}}"),
    sync("is_the_only_row_for_it", before=f"{PORTS}- [Warm-up](cache#six): when\n{{}}"),
    sync("is_the_only_row_for_it", before=f"See [[Cache]].\n\n{PORTS}{{}}"),
    sync(
        "is_the_only_row_for_it",
        "- [Warm-up](cache.md): how it is warmed\n",
        f"- [cache](old.md): when\n{PORTS}{{}}",
        "name: Warm-up\ndescription: how it is warmed\n",
    ),
    sync("is_the_only_row_for_it", before=f"{PORTS}{{}}{{}}"),
    sync(
        "is_the_only_row_for_it",
        "- [[cache]]: how it is warmed\n",
        "- [[ports]]: where\n{}",
        others={"n/cache.md": "x\n"},
    ),
    sync("looks_like_no_other", before=f"- [Cache!](old.md): when\n{PORTS}{{}}"),
    sync("looks_like_no_other", before=f"Removed: `cache.md`.\n\n{PORTS}{{}}"),
    sync("fits_what_is_loaded", context=replace(CLAUDE, limits=Limits(index_row_chars=30))),
    sync("fits_what_is_loaded", f"- [cache](cache.md): {LONG}\n", head=f"description: {LONG}\n"),
    sync("fits_what_is_loaded", before="Text.\n\n" * 100 + f"{PORTS}{{}}"),
    # link.retarget
    moved("changes_targets_alone", "See [it]({../old.md) now}\n", "../new.md) then"),
    moved("changes_targets_alone", "See [i{t](../old.md}) now\n", "s](../new.md"),
    moved("changes_targets_alone", "See [i{t](../old.md}) now\n", "t](../new.md"),
    moved("changes_targets_alone", "See [it](../old.md) {now}\n", "then"),
    moved("changes_targets_alone", "See [it]({../old.md}) now\n", "../new.md#warm-up"),
    moved("changes_targets_alone", "See {[[../old]]}\n", "[x](../new)"),
    moved("changes_targets_alone", "[{it]: ../old.md}\n", "is]: ../new.md"),
    moved("stands_in_the_open", "> See [it]({../old.md})\n", NEW),
    moved("stands_in_the_open", "See ![it]({../old.md})\n", NEW),
    moved("led_nowhere", "See [it]({../old.md})\n", NEW, WARM, others={"new.md": HEADED, "old.md": "O.\n"}),
    moved("led_nowhere", "See [it]({../old.md})\n", NEW, WARM, others={"new.md": HEADED, "Old.md": "O.\n"}),
    moved("led_nowhere", "See [[{old}]]\n", "new", WARM, others={"new.md": HEADED, "b.md": "---\nname: old\n---\n"}),
    moved("leads_to_the_one_successor", "See [it]({../gone.md})\n", NEW),
    moved("leads_to_the_one_successor", "See [it]({../src/old.md})\n", "../old.md", others={"old.md": "O.\n"}),
    moved("leads_to_the_one_successor", "See [it]({../old.md})\n", NEW, Ended("old.md", "", digest("O.\n"), "new.md")),
    moved("leads_to_the_one_successor", "See [it]({../old.md})\n", NEW, Ended("old.md", "", digest(HEADED), "")),
    moved("leads_to_the_one_successor", "See [it]({../old.md})\n", NEW, Ended("old.md", "cache", "", "")),
    moved("leads_to_the_one_successor", "See [it]({../old.md})\n", NEW, context=CLAUDE),
    moved("leads_to_the_one_successor", "See [[{old}]]\n", "new", Ended("n/old.md", "", "", "")),
    moved(
        "leads_to_the_one_successor",
        "See [it]({../old.md})\n",
        NEW,
        Ended("old.md", "warm", digest(HEADED), "new.md"),
        others={"new.md": HEADED, "warm.md": "W.\n"},
    ),
    moved(
        "leads_to_the_one_successor",
        "See [it]({../old.md})\n",
        NEW,
        Ended("old.md", "", digest(HEADED), "mid.md"),
        Ended("mid.md", "", digest("O.\n"), "new.md"),
    ),
    moved(
        "leads_to_the_one_successor",
        "See [it]({../m/README.md})\n",
        "../README.md",
        others={"README.md": "R.\n", "m/b.md": "B.\n"},
    ),
    moved(
        "leads_to_the_one_successor",
        "See [it]({../old.md})\n",
        "../MEMORY.md",
        Ended("old.md", "", digest("M.\n"), "MEMORY.md"),
        others={"MEMORY.md": "M.\n"},
    ),
    moved("has_its_anchor", "See [it]({../old.md}#cool-down)\n", NEW),
    moved("is_written_as_before", "See [it]({../old.md})\n", "b/../../new.md"),
    moved("is_written_as_before", "See [it]({../old.md})\n", "new"),
    moved("is_written_as_before", "See [it]({../old.md})\n", "../n%65w.md"),
    moved("is_written_as_before", "See [it]({../old.md})\n", "..\\/new.md"),
    moved("is_written_as_before", "See [it]({../old.md})\n", "../new&period;md"),
    moved("is_written_as_before", "See [it]({../old.md})\n", "../new a.md", A, others={"new a.md": HEADED}),
    moved("is_written_as_before", "See [it]({./old.md})\n", "new.md", path="a.md"),
    moved("is_written_as_before", "See [[{old.md}]]\n", "new", path="a.md"),
    moved("is_written_as_before", "See [[{old}]]\n", "warm", N, others={"new.md": NAMED}),
    moved("stands_in_a_whole_folder", "See [it]({../old.md})\n" + DEAD, NEW),
    moved("stands_in_a_whole_folder", "See [it]({../old.md})\n", NEW, others={"new.md": HEADED, "MEMORY.md": DEAD}),
    # date.normalize
    Lie(DATE, "reads_as_that_day", "moved {13/04/2025} at last\n", "2025-04-14"),
    Lie(DATE, "reads_as_that_day", "moved {03/04/2025} at last\n", "2025-04-03"),
    Lie(DATE, "reads_as_that_day", "moved {last week} at last\n", "2025-04-03"),
    Lie(DATE, "stands_in_prose", "> moved {13/04/2025} at last\n", "2025-04-13"),
    Lie(DATE, "stands_in_prose", "Text.\n\n    moved {13/04/2025} at last\n", "2025-04-13"),
    Lie(DATE, "stands_alone", "logs/{2025/04/13}/x.log\n", "2025-04-13"),
    Lie(DATE, "is_not_enclosed", 'said "moved {13/04/2025} or so"\n', "2025-04-13"),
    Lie(DATE, "is_not_enclosed", "run `moved {13/04/2025} or so`\n", "2025-04-13"),
    Lie(DATE, "is_not_enclosed", "run ``moved {13/04/2025} or so``\n", "2025-04-13"),
    Lie(DATE, "agrees_with_weekday", "on Friday, {13 April 2025} at last\n", "2025-04-13"),
    Lie(DATE, "names_nothing", "the folder {13/04/2025} went\n", "2025-04-13"),
    Lie(DATE, "names_nothing", "upgrade to {2025.04.13} at last\n", "2025-04-13"),
    Lie(DATE, "names_nothing", "run it with --since {13/04/2025}\n", "2025-04-13"),
    Lie(DATE, "names_nothing", "tests {may 13, 2025} at last\n", "2025-05-13"),
    Lie(DATE, "is_no_sample", "The format is\nthat of {13/04/2025} there\n", "2025-04-13"),
    Lie(DATE, "is_no_sample", "not {13/04/2025} but 2025-04-13\n", "2025-04-13"),
    Lie(DATE, "shares_nothing", "open on 12 and {13 April 2025}\n", "2025-04-13"),
    Lie(DATE, "shares_nothing", "open {April 13, 2025} to May 2\n", "2025-04-13"),
    Lie(DATE, "is_no_clue", "open from {13/04/2025} to 05/06/2025\n", "2025-04-13"),
    Lie(DATE, "counts_from_its_heading", f"{DAY}- {{Yesterday}} the rollout failed\n", "2026-05-18 (Yesterday)"),
    Lie(DATE, "counts_from_its_heading", f"{DAY}- {{Yesterday}} the rollout failed\n", "2026-05-19 (Last week)"),
    Lie(DATE, "counts_from_its_heading", f"{DAY}- {{Yesterday}} the rollout failed\n", "2026-05-19"),
    Lie(DATE, "counts_from_its_heading", "# Log\n\n- {Yesterday} the rollout failed\n", "2026-05-19 (Yesterday)"),
    Lie(DATE, "counts_from_its_heading", f"{DAY}Ana:\n\n- {{Yesterday}} it failed\n", "2026-05-19 (Yesterday)"),
    Lie(DATE, "counts_from_its_heading", f"{DAY}## A\n\n- {{Yesterday}} it failed\n", "2026-05-19 (Yesterday)"),
    Lie(
        DATE, "counts_from_its_heading", f"{DAY}§\n\n{{Yesterday}} it failed", "2026-05-19 (Yesterday)", context=HERMES
    ),
    Lie(DATE, "counts_from_its_heading", f"# Examples\n\n#{DAY}- {{Yesterday}} it failed\n", "2026-05-19 (Yesterday)"),
    Lie(DATE, "counts_from_its_heading", f"{DAY}- 2026-05-12\n- {{Yesterday}} it failed\n", "2026-05-19 (Yesterday)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- had the job failed {{yesterday}}, ring\n", "2026-05-19 (yesterday)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- {{Today}} the service is stable\n", "2026-05-20 (Today)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- it is still used {{today}}\n", "2026-05-20 (today)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- did it fail {{yesterday}}?\n", "2026-05-19 (yesterday)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- usually it failed {{yesterday}}\n", "2026-05-19 (yesterday)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- we renamed {{yesterday}} in the menu\n", "2026-05-19 (yesterday)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- {{Heute}} ist der Dienst abgeschaltet\n", "2026-05-20 (Heute)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- {{어제}} 정한 규칙\n", "2026-05-19 (어제)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- {{昨天}}的任务已顺延\n", "2026-05-19 (昨天)"),
    Lie(DATE, "tells_of_the_past", f"{DAY}- {{昨日}}の障害は復旧した\n", "2026-05-19 (昨日)"),
    Lie(DATE, "is_the_only_time", f"{DAY}- {{Yesterday}} it failed, today it ran\n", "2026-05-19 (Yesterday)"),
    Lie(DATE, "is_the_only_time", f"{DAY}- We met on 2026-05-18. It failed {{yesterday}}\n", "2026-05-19 (yesterday)"),
    Lie(DATE, "is_the_only_time", f"{DAY}- It was slow on Monday. It failed {{yesterday}}\n", "2026-05-19 (yesterday)"),
    Lie(DATE, "is_the_only_time", f"{DAY}- slow (see log. {{Yesterday}} it failed)\n", "2026-05-19 (Yesterday)"),
    Lie(DATE, "agrees_with_history", FAILED, "2026-05-19 (Yesterday)", context=known(date(2026, 5, 22))),
    Lie(DATE, "agrees_with_history", FAILED, "2026-05-19 (Yesterday)", context=known(date(2026, 5, 18))),
    Lie(DATE, "agrees_with_history", FAILED, "2026-05-19 (Yesterday)", context=known(None)),
    # verified.update
    checked("is_the_value_of_its_key", "expires: {2026-05-19}"),
    checked("is_the_value_of_its_key", "port:\n  verified_at: {2026-05-19}"),
    checked("is_the_value_of_its_key", "verified_at: {2026-05-19}\nverified_at: 2026-05-18"),
    checked("is_the_value_of_its_key", "verified_at: {2026-05-19}\nmetadata:\n  verified_at: 2026-05-18"),
    checked("is_the_value_of_its_key", "note: |\n  verified_at: {2026-05-19}"),
    checked("is_the_value_of_its_key", 'note: "it says\n  verified_at: {2026-05-19}\n  or so"'),
    checked("is_the_value_of_its_key", "sources:\n- verified_at: {2026-05-19}"),
    checked("is_the_value_of_its_key", "verified_at: 2026-05-18 # not {2026-05-19}"),
    checked("says_nothing_more_of_it", "verified_at: {2026-05-19} # by ana"),
    checked("says_nothing_more_of_it", "verified_at: {2026-05-19}\nmetadata:\n  verified_by: ana"),
    checked("says_nothing_more_of_it", "by: ana\nverified_at: '{2026-05-19}'"),
    checked("is_the_value_of_its_key", "note: a: b\nverified_at: {2026-05-19}"),
    checked("is_the_value_of_its_key", "name: b\n---\nverified_at: {2026-05-19}\n"),
    checked("is_written_as_before", "verified_at: {2026-05-19}", "2026-05-20T10:00:00"),
    checked("is_written_as_before", "verified_at: {2026-05-19}", "2026-05-32"),
    checked("is_written_as_before", "verified_at: {2026-05-19}", "20260520"),
    checked("is_written_as_before", "verified_at: {not yet}", "2026-05-20"),
    checked("is_written_as_before", "verified_at: {2026-05-19}", "2026-05-20 # not really"),
    checked("moves_on_until_now", new="2026-05-18"),
    checked("moves_on_until_now", new="2026-06-02"),
    checked("moves_on_until_now", context=Context(evidence=Evidence.FOUND)),
    checked("shows_evidence", context=Context(now=datetime(2026, 6, 1, 12, tzinfo=UTC))),
    # meta.stamp
    stamp("is_the_value_of_its_key", "verified_at: {2026-05-19T08:00:00Z}", "2026-05-20T08:00:00Z"),
    stamp("is_written_as_before", "modified: {2026-05-19}", "2026-05-20"),
    stamp("is_written_as_before", "modified: {2026-05-19T08:00:00Z}", "2026-05-20T08:00:00+02:00"),
    stamp("moves_on_until_now", "modified: {2026-05-19T08:00:00+02:00}", "2026-05-19T08:30:00+03:00"),
    stamp("moves_on_until_now", "modified: {2026-05-19T08:00:00Z}", "2026-06-01T12:00:00.001Z"),
    # format.blank
    Lie(BLANK, "removes_blanks_alone", "use pnpm{ now}\n"),
    Lie(BLANK, "removes_blanks_alone", "use pnpm\n{\n\n}and make\n", "\n\n\n"),
    Lie(BLANK, "takes_all_of_them", "use pnpm {  }\n"),
    Lie(BLANK, "takes_all_of_them", "use pnpm\n\n{\n\n}and make\n", "\n"),
    Lie(BLANK, "stands_in_the_open", "~~~\nmake{  }\n~~~\n"),
    Lie(BLANK, "stands_in_the_open", "---\nname: a\nmetadata:{ }\n---\nBody\n"),
    Lie(BLANK, "keeps_open_spans", "run `make{ }\nall` now\n"),
    Lie(BLANK, "keeps_open_spans", "keep <!-- this{ }\nnote --> now\n"),
    Lie(BLANK, "keeps_hard_breaks", "use pnpm{  }\nand make\n"),
    Lie(BLANK, "keeps_hard_breaks", "use pnpm \\{ }\nand make\n"),
    Lie(BLANK, "keeps_marks", "- use pnpm\n-{ }\n"),
    Lie(BLANK, "keeps_sections", "A a\n{\n\n}§\nB b", "\n", "MEMORY.md", HERMES),
]


def everything_but(name: str) -> tuple[dict[Kind, object], object]:
    def without(clauses: object) -> object:
        return tuple(clause for clause in clauses if clause.__name__ != name)  # type: ignore[attr-defined]

    return {rule: without(clauses) for rule, clauses in invariants.BY_RULE.items()}, without(verifier.COMMON)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: f"{lie.rule}-{lie.clause}")
def test_lie_is_refused_and_would_be_believed_without_its_clause(lie: Lie, monkeypatch: pytest.MonkeyPatch) -> None:
    base, proposed, proof = lie.claim()
    assert not verifier.verify(base, proposed, proof, lie.context)

    by_rule, common = everything_but(lie.clause)
    monkeypatch.setattr(invariants, "BY_RULE", by_rule)
    monkeypatch.setattr(verifier, "COMMON", common)

    assert verifier.verify(base, proposed, proof, lie.context)


def test_every_clause_of_every_rule_has_a_lie_against_it() -> None:
    common = {clause.__name__ for clause in verifier.COMMON}
    of_rules = {(rule, clause.__name__) for rule, clauses in invariants.BY_RULE.items() for clause in clauses}

    assert {lie.clause for lie in LIES if lie.clause in common} == common
    assert {(lie.rule, lie.clause) for lie in LIES if lie.clause not in common} == of_rules
