"""`index.trim`: a row over its limit ends earlier, at a clause, and what it no longer says stands in its target."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from memoryreview.core import frontmatter
from memoryreview.core.classify.claim import Claim, Clause, is_blank, lines_of, rows_of
from memoryreview.core.formats import of
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.markdown import Place, Spot, comments, outline
from memoryreview.core.model import Rewrite

_END = "…".encode()
_EDGE = " \t\r\n.;:,!?—–。；：，、！？"
_BREAKS = ".;:,()!?—–。；：，、（）！？"

_TURNS = """
    no not never none nobody nothing neither nor cannot without hardly barely seldom rarely avoid* forbid* prohibit*
    prevent* disallow* disabl* deni* refus* reject* declin* fail* lack* ignor* skip* impossib* unable missing absen*
    except* exempt* exclud* exclus* but however although though unless if when* wherever whichever while until till once
    provid* suppos* assum* presum* condition* contingen* optional* whether otherwise else only before after depend*
    apart aside besides instead lest minus barring regardless notwithstanding minim* maxim*
    mustnt shouldnt wouldnt couldnt hasnt havent wasnt werent didnt doesnt dont isnt arent wont cant
    nicht nie niemals kein* nichts niemand* nirgend* ohne weder noch kaum verbot* verbiet* untersag* vermeid* unmöglich*
    fehlt fehlen* wenn *falls sofern insofern solange soweit sobald sonst bis bevor nachdem nur außer* ausser*
    ausgenommen ausnahm* ausschl* vorbehalt* abgesehen jedoch aber sondern obwohl statt anstelle höchstens mindestens
    ne n pas jamais aucun* null* rien ni non sans sauf excep* hormis hors mais cependant toutefois pourtant si lorsqu*
    quand sinon avant après jusqu* seulement uniquement interdi* défend* défens* évit* moins manqu* éventuel* quelqu*
    nunca jamás jamas nada nadie ningún ningun* sin tampoco salvo excluy* pero sino aunque cuando mientras hasta antes
    después solo sólo solamente únicamente prohib* evit* imposib* falt* ausen* supuest* condicion*
    two three four* five six seven* eight* nine* ten eleven* twel* thirt* fift* sixt* twent* hundred* thousand* million*
    billion* dozen* half double triple twice first second third percent prozent
    zwei drei vier* fünf* sechs* sieben* acht* neun* zehn* elf* zwölf* *zwanzig* *hundert* *tausend* *fach halb* erste*
    zweite* dritte*
    deux trois quatre* cinq* six sept* huit* neuf* dix* onze douze* treiz* quinz* vingt* trent* quarant* cinquant*
    soixant* cent* mille* milli* premier* première* *ième *ièmes
    dos tres cuatro cinco seis siete ocho nueve diez once doce dieci* veint* *cientos *cientas quinient* cien* mil miles
    millar* decena* docena* primer* segund* tercer* cuart* quint* sext* séptim* octav* noven* décim* mitad*
    안 못 만 두 세 네 한 몇
"""
"""Whole words; a star stands for any ending."""

_TURN = re.compile(rf"\b(?:{'|'.join(_TURNS.split())})\b".replace("*", r"\w*"), re.IGNORECASE)
_TURNING_SIGNS = re.compile(
    r"n['’]t\b|\bs['’]ils?\b|\b(?:as|so) long as\b|\bat (?:least|most)\b|\bup to\b"
    r"|[不没沒無无非未别別勿莫禁否若仅僅只唯除但却卻两兩俩几幾半第缺拒]|如果|要是|一旦|例外|以外|至少|至多|最多|以前|以后|等到"
    r"|後で|以上|以下|未満|ゼロ|たび|拒|控え|だめ|ダメ|やめ|数|ない|なく|なし|ぬ|ず|ません|なら|れば|たら|場合|まで|だけ|のみ|しか|ただし|けど"
    r"|않|못|없|아니|말고|금지|면(?!\w)|경우|까지|제외|하지만|지만|다만|대신|하나|둘|셋|번째|[일이삼사오육칠팔구][십백천만억]|이상|이하|미만|초과|최대|최소|거부|거절|첫째|둘째"
)
_NAMED = re.compile(r"[`\[\]<>{}=|\\/~$@#_^&%+*\"“”«»„「」『』]|--|\w[.:]\w|[a-z][A-Z]")
_KNOWN = """
    the a an and of to in is are for on with from by at as it we der die das und ist mit von für den dem im le la les de
    des du et est en dans pour par sur au el los las del y con para al
"""
_UNKNOWN = """
    che gli della sono nella anche per não uma dos das em com het een van zijn voor wordt niet och att inte på som
    og ikke til jest się oraz przez ve bir için și sunt pentru ja ei että hogy egy yang dan dengan amb dels però
    sense són yn mae nid agus vir nie koji dhe nuk ang mga eta kaj estas
"""
"""Small words of the languages whose turns of meaning are in the table, and of others."""


class _Trim(NamedTuple):
    """One shortened row: what stays of it, what goes, and the text that other rewrites bring to its target."""

    rewrite: Rewrite
    row: IndexRow | None
    kept: str
    cut: str

    @property
    def lost(self) -> str:
        return " ".join(unicodedata.normalize("NFC", self.cut).split()).strip(_EDGE)


def _trims(claim: Claim) -> Iterator[_Trim]:
    for rewrite in claim.proof.rewrites:
        if _is_brought(claim, rewrite):
            continue
        data = claim.base[rewrite.path]
        found = rows_of(data)
        first = bisect_left(found, rewrite.end, key=lambda row: row.end)
        row = found[first] if first < len(found) and found[first].end == rewrite.end else None
        row = row if row and row.start <= rewrite.start else None
        start = row.start if row else rewrite.start
        kept, cut = data[start : rewrite.start], data[rewrite.start : rewrite.end]
        yield _Trim(rewrite, row, kept.decode("utf-8", "replace"), cut.decode("utf-8", "replace"))


def _is_brought(claim: Claim, rewrite: Rewrite) -> bool:
    """Whether a rewrite adds text at the end of a document."""
    return rewrite.start == rewrite.end == len(claim.base[rewrite.path]) and bool(rewrite.new)


def _target(claim: Claim, trim: _Trim) -> str:
    folder = posixpath.dirname(trim.rewrite.path)
    return posixpath.normpath(posixpath.join(folder, trim.row.target)) if trim.row else ""


def shortens_hooks_alone(claim: Claim) -> bool:
    """Rows of an index lose the end of their hook, and whole hooks or titles never."""
    trims = list(_trims(claim))
    return bool(trims) and all(
        of(claim.context.format).is_index(trim.rewrite.path)
        and trim.row is not None
        and trim.row.hook_start < trim.rewrite.start < trim.rewrite.end
        and trim.rewrite.new == _END
        for trim in trims
    )


def fits_where_it_did_not(claim: Claim) -> bool:
    limit = claim.context.limits.index_row_chars
    return 120 <= limit <= 400 and all(
        len(trim.kept) + len(trim.cut) > limit >= len(trim.kept) + 1 for trim in _trims(claim)
    )


def ends_a_clause(claim: Claim) -> bool:
    """The row ends before a mark of punctuation, with no quote, code, link or emphasis left open."""
    for trim in _trims(claim):
        is_end = re.match(r"[.;:,)!?](?=\s|$)|[ \t]*[—–]|[。；：，、）！？]", trim.cut)
        if not is_end or trim.kept[-1:].isspace() or trim.kept[-1:] in _BREAKS or trim.kept.endswith(("…", "-")):
            return False
        if any(trim.kept.count(mark) % 2 for mark in ("`", "**", '"')) or trim.kept.count("[") != trim.kept.count("]"):
            return False
    return True


def loses_no_turn_of_meaning(claim: Claim) -> bool:
    """What goes holds no number, name, path or code, and no negation, condition or exception."""
    for trim in _trims(claim):
        folded = unicodedata.normalize("NFC", trim.cut).casefold()
        if any(char.isnumeric() for char in folded) or _NAMED.search(trim.cut.rstrip(_EDGE)):
            return False
        if _TURN.search(folded) or _TURNING_SIGNS.search(folded):
            return False
    return True


def speaks_a_known_language(claim: Claim) -> bool:
    for trim in _trims(claim):
        letters = [char for char in unicodedata.normalize("NFC", trim.lost).casefold() if char.isalpha()]
        scripts = [unicodedata.name(char, "?").split()[0] for char in letters]
        if not set(scripts) <= {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL"}:
            return False
        if scripts.count("LATIN") * 2 > len(scripts):
            words = re.findall(r"[^\W\d_]+", trim.row.hook.casefold() if trim.row else "")
            foreign = sum(word in _UNKNOWN.split() for word in words)
            # German has “den” as well: a word of both says nothing by itself.
            strange = set(_UNKNOWN.split()) - set(_KNOWN.split())
            if not strange.isdisjoint(re.findall(r"[^\W\d_]+", trim.lost.casefold())):
                return False
            if sum(word in _KNOWN.split() for word in words) <= foreign:
                return False
    return True


def stands_in_its_target(claim: Claim) -> bool:
    """The target says afterwards what the row no longer does: in its description or, between two clauses, in prose."""
    lost: dict[str, list[_Trim]] = {}
    for trim in _trims(claim):
        target = _target(claim, trim)
        if target not in claim.base or target == trim.rewrite.path:
            return False
        lost.setdefault(target, []).append(trim)
    for target, trims in lost.items():
        texts = [(_shown(text), over) for text, over in _texts(claim.proposed.get(target, b""))]
        if not all(any(_says(text, t.lost) and _is_unturned(text + over, t) for text, over in texts) for t in trims):
            return False
    return True


_TAKEN_BACK = re.compile(
    r"\b(?:formerly|previously|used to|deprecated|obsolete|outdated|wrong|false|untrue|incorrect|früher|veraltet|falsch"
    r"|autrefois|obsolète|faux|fausse|obsolet[oa]|fals[oa]|erróne[oa])\b|过时|作废|废弃|错误|曾经|廃止|誤り|かつて|폐기|예전|잘못",
    re.IGNORECASE,
)


def _is_unturned(text: str, trim: _Trim) -> bool:
    """Whether a text, with all that stands over it, holds no more turns of meaning than the row itself."""
    hook = trim.row.hook if trim.row else ""
    turns = [
        Counter(turn.casefold() for form in (_TURN, _TURNING_SIGNS) for turn in form.findall(x)) for x in (text, hook)
    ]
    return not turns[0] - turns[1] and not (_TAKEN_BACK.search(text) and not _TAKEN_BACK.search(hook))


def _texts(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the description and each block of prose, with the headings, parents and the lead-in over it."""
    head = frontmatter.read(data)
    if isinstance(head, frontmatter.Frontmatter):
        yield head.description, ""
    over: dict[int, str] = {}
    lead, section = "", 0
    for text, spot in _blocks(data):
        over, lead = (over, lead) if spot.section == section else ({}, "")
        section = spot.section
        parents = [said for depth, said in over.items() if depth < spot.depth]
        yield text, "\n".join(("", *spot.headings, *parents, lead))
        over = {depth: said for depth, said in over.items() if depth < spot.depth} | {spot.depth: text}
        if text.rstrip().endswith((":", "：")):
            lead = text
        elif not spot.depth:
            lead = ""


def _blocks(data: bytes) -> Iterator[tuple[str, Spot]]:
    hidden = bytearray(data)
    for start, end in comments(data):
        hidden[start:end] = b"\0" * (end - start)
    block: list[tuple[str, Spot]] = []
    for line, spot in zip(lines_of(data), outline(data), strict=True):
        is_prose = spot.place in (Place.PARAGRAPH, Place.ITEM, Place.ORDERED)
        if block and (not is_prose or spot.item_start == spot.lineno):
            yield " ".join(text for text, _ in block), block[-1][1]
            block = []
        if is_prose:
            block.append((bytes(hidden[line.start : line.start + len(line.body)]).decode("utf-8", "replace"), spot))
    if block:
        yield " ".join(text for text, _ in block), block[-1][1]


def _shown(text: str) -> str:
    shown = re.sub(r"(`+)[^`]+\1", "\0", re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", text))
    return " ".join(unicodedata.normalize("NFC", shown).split())


def _says(shown: str, words: str) -> bool:
    first, edge = re.escape(words[:1]), re.escape(_BREAKS)
    said = rf"(?:^|[{edge}])\s*(?i:{first}){re.escape(words[1:])}\s*(?:$|[{edge}])"
    return bool(words) and "~~" not in shown and bool(re.search(said, shown))


def brings_only_what_goes(claim: Claim) -> bool:
    """What is added to a target is what one row lost, as a paragraph or item of its own, and nothing else."""
    trims = list(_trims(claim))
    for rewrite in claim.proof.rewrites:
        if not _is_brought(claim, rewrite):
            continue
        lost = [trim.lost.casefold() for trim in trims if _target(claim, trim) == rewrite.path]
        added = unicodedata.normalize("NFC", re.sub(r"^\s*[-*+][ \t]+", "", rewrite.new.decode("utf-8", "replace")))
        if " ".join(added.split()).strip(_EDGE).casefold() not in lost:
            return False
        lines = lines_of(claim.proposed.get(rewrite.path, b""))
        last = max((at for at, line in enumerate(lines) if not is_blank(line)), default=0)
        spot = outline(claim.proposed.get(rewrite.path, b""))[last : last + 1]
        if not spot or (last and not is_blank(lines[last - 1]) and spot[0].item_start != last + 1):
            return False
    return True


CLAUSES: tuple[Clause, ...] = (
    shortens_hooks_alone,
    fits_where_it_did_not,
    ends_a_clause,
    loses_no_turn_of_meaning,
    speaks_a_known_language,
    stands_in_its_target,
    brings_only_what_goes,
)
