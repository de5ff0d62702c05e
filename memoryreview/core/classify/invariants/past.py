"""What a sentence about the past looks like in seven languages, around the sign that stands for a relative word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

W = "\ue000"

MAX_SENTENCE_CHARS = 400
"""A longer one is no plain statement, and would cost too much to look at; so would a word of 40 letters."""

_LONG_WORD = re.compile(r"[^\W\u3000-\ud7ff]{40}")

_OBJECT = re.compile(r"`[^`\n]*`|!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^()\n]*\)")

# Words of a subject, none of which begins a clause of its own.
_EN = (
    r"(?:(?!(?:is|am|are|has|have|do|does|can|will|would|should|that|which|who|what|when|where|while|and|or|but|because"
    r"|if|so|than|then|once)\b)[\w'’.-]+ )"
)
_EN_FINITE = (
    r"(?:was|were|did|went|broke|took|gave|fell|began|wrote|saw|grew|knew|threw|chose|drove|spoke|woke|rose|froze|forgot"
    r"|shook|stole|withdrew|rewrote|failed|crashed|happened|occurred|expired|arrived|died|collapsed"
    r"|disappeared|vanished"
    r"|succeeded)"
)
_EN_PAST = (
    rf"(?:{_EN_FINITE}|had|came|got|made|lost|sent|found|built|ran|kept|left|met|brought|bought|thought|paid|held|stood"
    r"|won|hung|stuck|caught|taught|felt|dealt|led|fed|sold|spent|slept|became|hid|swept|tore|wore|undid|redid|rebuilt"
    r"|overran|(?!\w*eed\b|hundred|embed\b|used\b)[a-z]+ed|(?:dis)?agreed|freed)"
)
_EN_WE = r"(?:we|i|he|she|they|it|there|someone|somebody|nobody|everybody)"
_EN_THE = r"(?:the|a|an|our|my|their|his|her|its|both|all)"
_EN_TO = r"(?:to|in|on|onto|into|with|by|for|at|from|over|off|up|down|back|out|after)"
_EN_LY = r"(?:(?:also|finally|suddenly|again|just|then|only|already|\w+ly) )*"
_EN_NOT = r"(?:n['’]t)?\b"
_EN_ENDS = r"(?=$|[.!;,]| (?:because|due|after|with|without|at|in|on|by|to|for|during|despite)\b)"
_EN_SHORT = rf"(?: {_EN_PAST}| it| them|(?: {_EN_THE}| {_EN_TO}){{1,2}} [\w.-]+)"
_EN_NAMED = (
    r"(?:word|variable|function|field|tab|button|label|column|filter|option|key|keyword|method|parameter|flag|value|string"
    r"|constant|preset|view|heading|name|property|attribute|command|term|phrase|placeholder|setting|range|menu|reads)"
)
# Verbs that the word right after them cannot be the object of.
_EN_DIRECT = (
    r"(?:failed|crashed|happened|occurred|expired|arrived|died|collapsed|disappeared|vanished|succeeded|broke|went|fell"
    r"|came|met|deployed|shipped|released|launched|landed|talked|worked|migrated|merged|upgraded|rebooted|resigned)"
)
_EN_NAME = rf"(?:(?!{_EN_NAMED}\b){_EN})"
# “Show failed jobs” says nothing about somebody called Show.
_EN_NO_ORDER = rf"(?!\w+ed (?!(?:{_EN_THE}|{_EN_TO}|it|them)\b)\w)"
_EN_SUBJECT = rf"(?:{_EN_WE} {_EN_LY}|{_EN_THE} {_EN}{{1,6}}?|{_EN_NAME}{{0,2}}{_EN_NO_ORDER})"

_DE_PAST = (
    r"(?:war(?:en)?|hatten?|wurden?|schlug|schlugen|gingen?|kam|kamen|fiel|fielen|lief|liefen|brach|brachen|gab|gaben|stand"
    r"|standen|fand|fanden|begann|begannen|lie(?:ss|ß)(?:en)?|nahm|nahmen|hielt|hielten|blieb|blieben|stieg|stiegen"
    r"|sprang|sprangen|traf|trafen|trat|traten|verlor|verloren|fuhr|fuhren|sah|sahen|hing|hingen|starb|starben"
    r"|verschwand|verschwanden|entstand|entstanden)"
)
_DE_PARTICIPLE = (
    r"(?:\w*ge\w{2,}(?:t|en)|\w{3,}iert|(?:ver|be|er|ent|zer|miss|über|unter|wider|durch)\w{3,}(?:t|en))"
    r"(?: worden| gewesen)?(?=\W*$|[,.;:!–—])"
)
_DE_HAS = r"(?:hat|haben|habe|ist|sind|bin)"
_DE_WORD = r"(?:(?!(?:und|oder|aber|weil|dass|welche[rs]?|wo|was|wer)\b)[\w.-]+ )"
_FR_PARTICIPLE = (
    r"(?:(?:pas|bien|déjà|enfin|encore|tout|aussi|été|complètement|rapidement|finalement|brusquement) )*"
    r"(?:(?!été\b)\w{2,}ée?s?|\w*(?:fini|chois|réuss|rempl|grand|part|sort|serv|suiv|sent)i?|\w*(?:mis|pris|fait|écrit|uit)"
    r"|\w{0,8}[vlestpdqnrt]u|vu|lu|mort|\w*(?:ouv|couv|off)ert)\b"
)
_FR_DIRECT = (
    r"(?:échoué|planté|tombée?|arrivée?|terminé|démarré|commencé|cessé|expiré|migré|déployé|livré|réussi|parti|disparu"
    r"|redémarré|(?<=été )\w+)"
)
_FR_WORD = r"(?:(?!(?:qui|que|qu|dont|où|et|ou|mais|car|puis|parce|quoi)\b)[\w.-]+ )"
_FR_HAVE = r"(?:ai|as|a|avons|avez|ont|avais|avait|avions|avaient)"
_FR_BE = r"(?:suis|est|sommes|sont|étais|était|étaient|fut|furent)"
_ES_DIRECT = (
    r"(?:fall(?:ó|aron)|cay(?:ó|eron)|termin(?:ó|aron)|empez(?:ó|aron)|expir(?:ó|aron)|murió|ocurrió|pasó|desplegamos"
    r"|migramos|lleg(?:ó|aron)|arrancó|reinició|(?<=se )\w+)"
)
_ES_WORD = r"(?:(?!(?:que|quien|quienes|cual|donde|y|e|o|u|pero|porque)\b)[\w.-]+ )"
_ES_STRICT = (
    r"(?:\w{2,}ó|\w{2,}(?:aron|ieron|eron)|fu(?:e|imos)|hubo|hi(?:zo|ce|cimos)|(?:estu|tu)v(?:o|imos)|pudo|pus(?:o|imos)"
    r"|vin(?:o|imos)|di(?:o|mos)|trajo|\w*dujo|quiso|supo|(?:he|hemos) (?:\w+[ai]do|hecho|escrito|\w*[vp]uesto|visto"
    r"|vuelto|roto|abierto|resuelto))\b"
)
_ES_PAST = rf"(?:{_ES_STRICT}|(?!(?:así|aquí|ahí|allí|café|esté|\w+[aei]ré)\b)\w{{2,}}(?:[ai]mos|é|í)\b)"
_ZH_ACT = (
    "完成|修[复復]|[发發]布|部署|上[线線]|更新|合[并併]|[迁遷]移|升[级級]|回滚|重[启啟]|通知|提交|[删刪]除|添加|[创創]建"
    "|修改|切[换換]|[关關][闭閉]|解[决決]|新增|移除|替[换換]"
)
_ZH_WE = "(?:我[们們]?|他[们們]|[团團][队隊]|大家)"
_KO_WORD = r"(?! (?:(?:으?로|[을를이가은는라])(?=[ .!]|$)|였|이었|라는|라고))"
_JA_PAST = r"(?:[しいっきぎれせけげえべめねてでみりちじ出見来得経寝]た|[^なるくいすうつむぬぐぶのえ]んだ)"

_YESTERDAY = {
    "yesterday": (
        rf"^{W},? (?:{_EN_WE} {_EN_LY}|{_EN_THE} {_EN}{{1,6}}?|{_EN_NAME}{{1,2}}{_EN_NO_ORDER}){_EN_PAST}{_EN_NOT}",
        rf"^{_EN_SUBJECT}(?:{_EN_DIRECT}{_EN_NOT} |{_EN_PAST}{_EN_NOT} {_EN}+){W}{_EN_ENDS}",
    ),
    "gestern": (
        rf"^{W} (?:{_DE_PAST}|\w{{3,}}ten?\b|{_DE_HAS}\b.*?{_DE_PARTICIPLE})",
        rf"^{_DE_WORD}{{1,6}}?(?:{_DE_PAST}|\w{{3,}}ten?|{_DE_HAS}(?=\b.*{_DE_PARTICIPLE})) {_DE_WORD}*{W}",
    ),
    "hier": (
        rf"^{W},? {_FR_WORD}{{0,7}}?(?:{_FR_HAVE}|{_FR_BE}) {_FR_PARTICIPLE}",
        rf"^{_FR_WORD}{{1,7}}?(?:{_FR_HAVE}|{_FR_BE}) {_FR_PARTICIPLE} {_FR_WORD}*{W}",
    ),
    "ayer": (rf"^{W},? {_ES_WORD}{{0,7}}?{_ES_PAST}", rf"^{_ES_WORD}{{0,7}}?{_ES_PAST} {_ES_WORD}*{W}"),
    "昨天": (rf"^{_ZH_WE}?{W}(?![的之起以到至前后後晚早上下中夜、/]).*[了已]",),
    "昨日": (rf"^{W}(?!の|から|まで|より|も|と|や|[でにがをへ]|だった|でした|、と|という).*{_JA_PAST}[。．.!！ ]*$",),
    "어제": (rf"^(?:.* )?{W}{_KO_WORD}[ ,].*[가-힣](?:다|습니다|음|어요|어)[.! ]*$",),
}
_TODAY = {
    "yesterday": (
        rf"^{W},? (?:{_EN_WE} {_EN_LY}{_EN_PAST}|{_EN_THE} {_EN}{{1,6}}?{_EN_FINITE}){_EN_NOT}",
        rf"^(?:{_EN_WE} {_EN_LY}{_EN_PAST}|{_EN_THE} {_EN}{{1,6}}?{_EN_FINITE}){_EN_NOT}{_EN_SHORT} {W}{_EN_ENDS}",
        rf"^{_EN_WE} {_EN_LY}{_EN_DIRECT} {W}{_EN_ENDS}",
        rf"^{_EN_THE} {_EN}{{1,6}}?{_EN_DIRECT} {W}{_EN_ENDS}",
    ),
    "gestern": (
        rf"^{W} (?:(?!hat|wurde){_DE_PAST}|(?:wurden?|(?:hatten?|haben?) (?:wir|ich))\b.*?{_DE_PARTICIPLE})",
        rf"^{_DE_WORD}{{1,6}}?(?:(?!hat|wurde){_DE_PAST}|wurden?(?=.*{_DE_PARTICIPLE})) {_DE_WORD}*{W}",
        rf"^(?:wir|ich) (?:hatten?|haben?)(?= .*{_DE_PARTICIPLE}) {_DE_WORD}*{W}",
    ),
    "hier": (
        rf"^{W},? (?:nous|j|on) {_FR_HAVE} {_FR_PARTICIPLE}",
        rf"^(?:nous|j|on) {_FR_HAVE} {_FR_PARTICIPLE} {_FR_WORD}*{W}",
    ),
    "ayer": (rf"^{W},? {_ES_WORD}{{0,7}}?{_ES_STRICT}", rf"^{_ES_WORD}{{0,7}}?{_ES_STRICT} {W}"),
    "昨天": (rf"^{_ZH_WE}?{W}[，, ]*{_ZH_WE}?(?:(?:已[经經]?)?(?:{_ZH_ACT})了|已[经經]?(?:{_ZH_ACT})(?!的))",),
    "昨日": (_YESTERDAY["昨日"][0].replace("|や|", r"|や|は|.*(?:なっ|てき|使わ|一般|現在|もう)|"),),
    "어제": (rf"^{W}{_KO_WORD}[ ,].*[가-힣](?:다|습니다|음|어요|어)[.! ]*$",),
}
_LANGUAGE = {
    **dict.fromkeys(("the day before yesterday", "yesterday", "today"), "yesterday"),
    **dict.fromkeys(("vorgestern", "gestern", "heute"), "gestern"),
    **dict.fromkeys(("avant-hier", "hier", "aujourd'hui", "aujourd’hui"), "hier"),
    **dict.fromkeys(("anteayer", "ayer", "hoy"), "ayer"),
    **dict.fromkeys(("前天", "昨天", "今天"), "昨天"),
    **dict.fromkeys(("一昨日", "おととい", "昨日", "きのう", "今日", "本日"), "昨日"),
    **dict.fromkeys(("그저께", "어제", "오늘"), "어제"),
}
_UNSURE: Mapping[str, str] = MappingProxyType(
    {
        "yesterday": (
            r"\b(?:every|each|always|usually|often|normally|typically|generally|sometimes|whenever|never|daily"
            r"|nightly|weekly|monthly|if|unless|whether|would|should|could|might|may|must|can|cannot|will|shall"
            r"|example|e\.g|i\.e|defaults?|placeholder|mock(?:ed)?|thinks?|thought|believed|assumed|guessed"
            r"|expected|such|sa(?:id|ys?)|tell|told|asks?|asked|according|claims?|claimed|report(?:s|ed)"
            r"|mention(?:s|ed)|quoted?|called|named|labell?ed|titled|until|till|since|ago|older|than|last|next"
            r"|weeks?|months?|years?|tomorrow|nowadays|still|please|remember)\b|used to|'ll\b"
        ),
        "gestern": (
            r"\b(?:jede[rsnm]?|jeweils|immer|stets|täglich|wöchentlich|monatlich|meist|meistens|oft|manchmal"
            r"|üblicherweise|normalerweise|nie|wenn|falls|ob|sobald|würden?|sollten?|könnten?|müssten?|dürften?"
            r"|wird|werden|soll|sollen|muss|müssen|kann|können|darf|dürfen|sagte?|laut|zufolge|meinte?|fragte?"
            r"|heißt|namens|genannt|beispiel|voreinstellung|standard|bis|seit|ab|letzte\w?|nächste\w?|wochen?"
            r"|monate?|jahre?|morgen|bitte"
            r"|abend|früh|nacht)\b"
        ),
        "hier": (
            r"\b(?:chaque|tous|toutes|toujours|souvent|parfois|habituellement|généralement|normalement|jamais|si"
            r"|quand|lorsque|devrait|pourrait|aurait|serait|faut|doit|doivent|peut|peuvent|sera|dit|demandé?|selon"
            r"|exemple|défaut|appelée?|nommée?|depuis|jusque?|semaines?|mois|ans?|années?|derni[eè]re?"
            r"|prochaine?|demain"
            r"|soir|matin|midi|nuit)\b"
        ),
        "ayer": (
            r"\b(?:cada|tod[oa]s|siempre|suelen?|normalmente|generalmente|veces|nunca|jamás|si|cuando|debería"
            r"|podría|sería|habría|deben?|pueden?|será|dijo|dice|preguntó|según|ejemplo|defecto|llamó|llamad[oa]"
            r"|desde|hasta"
            r"|semanas?|mes|meses|años?|pasad[oa]|próxim[oa]|mañana|favor|tarde|noche)\b" + rf"|{W} (?:en|por|mismo)\b"
        ),
        "昨天": (
            "每|如果|若|假如|要是|是否|吗|嗎|呢|什么|什麼|怎|谁|誰|多少|[应應][该該]|可能|也[许許]|[将將]要"
            "|必[须須]|可以|准[备備]|[计計][划劃]|打算|例如|比如|按[钮鈕]|[标標][签籤]|[选選][项項]|[总總]是|通常"
            "|[经經]常|一般|往往|有[时時]|[规規][则則]|[设設][为為]|改名|命名|默[认認]|当作|叫做|明[天日]"
            "|上[周月]|下[周月]|[说說][^明]"
        ),
        "昨日": (
            "毎|もし|たら|だら|場合|とき|時に|いつも|常に|通常|と言|という|そうだ|らしい|べき|つもり|予定|はず"
            "|例えば|既定|デフォルト|ボタン|タブ|先週|来週|今週|明日|あした|ください|だろう|でしょう"
        ),
        "어제": (
            "매일|매주|매번|마다|항상|언제나|보통|가끔|자주|만약|만일|경우|때(?!문)|으면|하면|되면|다고|라고|려고"
            "|버튼|기본값|값[을은]|탭|지난|다음|내일|까지|부터|겠|있(?:다|음|습니다|어)[.! ]*$"
        ),
    }
)
_NOUNISH = re.compile(
    r"(?:^|[ '’])(?:the|an?|of|from|for|by|before|after|on|in|at|with|like|as|about|into|was|were|been?|is|are"
    r"|folder|channel|directory|template|list|auf|aus|mit|nach|unter|über|zwischen|our|my|their|his|her|its|only"
    r"|even|early|late|just|not|and|or|vs|versus|days?|von|seit|bis|ab|vor|als|wie|zu|für|der|die|das|den|dem|des"
    r"|ein\w*|noch|auch|selbst|erst|schon|nur|und|oder|de|d|depuis|jusqu|à|avant|dès|le|la|les|comme|que|du|une?"
    r"|desde|hasta|por|para|como|el|los|las|del|al|y|o) $",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"(?:{_EN_NAMED}|reiter|knopf|feld|spalte|wort|funktion|taste|bouton|onglet|champ|filtre|mot|fonction|colonne|valeur"
    r"|étiquette|botón|pestaña|campo|opción|filtro|palabra|función|columna|etiqueta|valor"
    r"|(?<!été )\b(?:renomm|sélectionn|choisi|remplac|appel|ajout|supprim|affich)\w*"
    r"|\w*(?:eleg|renombr|seleccion)\w*) $",
    re.IGNORECASE,
)
_NAMES_EAST = re.compile(
    "页签|頁籤|[这這]个?個?[词詞]|一[词詞]|字段|变量|變數|函[数數]|フィールド|変数|関数|オプション|ラベル|필드|변수|함수|옵션|필터"
)
# What the word right after it may be the object of, unless the second form fits as well.
_ACTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "hier": (rf"{_FR_PARTICIPLE} $", rf"\b{_FR_DIRECT} $"),
        "ayer": (rf"\b{_ES_PAST} $", rf"\b{_ES_DIRECT} $"),
        "gestern": (r"\b(?:war|waren|hatten?) $", r"$^"),
    }
)
_DOUBLE_S = frozenset(chr(code) for code in range(0xAC00 + 20, 0xD7A4, 28))


def is_told(word: str, is_today: bool, sentence: str, entry: str) -> bool:
    """Whether a sentence plainly states something past by a relative word.

    Args:
        sentence: with `W` for the word.
        entry: the text around it, in which nothing may speak of habits, conditions, quotations or other times.
    """
    if len(sentence) > MAX_SENTENCE_CHARS or _LONG_WORD.search(sentence):
        return False
    language = _language(word, sentence)
    place = sentence.find(W)
    around = sentence[max(place - 1, 0) : place] + sentence[place + 1 : place + 2]
    if sentence.count(W) != 1 or re.search("[*_~/@]", around) or sentence.rstrip().endswith(("?", "？")):
        return False
    if language == "yesterday" and re.match(
        r"\W*(?:did|had|w(?:ere|as)|ha(?:ve|s)|do(?:es)?)\b", sentence, re.IGNORECASE
    ):
        return False
    if re.search(_UNSURE[language], entry, re.IGNORECASE):
        return False
    ahead = sentence[:place]
    if ahead and (word[0].isupper() or _NOUNISH.search(ahead) or _NAMED.search(ahead)):
        return False
    act, direct = _ACTS.get(language, ("$^", ""))
    goes_on = language == "gestern" and re.match(r" (?!als\b)\w", sentence[place + 1 :])
    if not goes_on and re.search(act, ahead, re.IGNORECASE) and not re.search(direct, ahead, re.IGNORECASE):
        return False
    if _NAMES_EAST.search(sentence):
        return False
    plain = _OBJECT.sub("x", sentence).replace("**", "")
    plain = re.sub(r"['’](?=\w{2})", " ", plain) if language == "hier" else plain
    forms = (_TODAY if is_today else _YESTERDAY)[language]
    if not any(re.search(form, plain, re.IGNORECASE) for form in forms):
        return False
    return language != "어제" or bool(re.search(rf"[{''.join(_DOUBLE_S)}](?:다|습니다|음|어요|어)[.! ]*$", plain))


def _language(word: str, sentence: str) -> str:
    language = _LANGUAGE[word.casefold()]
    return "昨天" if language == "昨日" and not re.search("[\u3041-\u30fa]", sentence) else language
