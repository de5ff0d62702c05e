"""Words that a shortened row must not lose: negations, conditions, exceptions and number words, by language.

Entries of the Latin tables are whole words, case-folded; those of the others are parts of words, because their scripts
put no blanks between words. Single characters there catch more than they mean, which only makes a row wait.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping


def _sets(words: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    return {language: frozenset(line.split()) for language, line in words.items()}


_ENGLISH = """
    no not never none nobody nothing neither nor nowhere cannot cant dont doesnt wont isnt arent without hardly
    barely seldom rarely avoid avoids avoided forbidden forbids prohibited banned deny denied refuse refused
    stop disabled off if unless when whenever while until till once provided providing assuming whether
    otherwise else only before after case depends depending must except excepting exception exceptions exempt
    but however although though apart besides excluding exclude excludes excluded than instead rather save yet
    still despite unlike other zero one two three four five six seven eight nine ten eleven twelve thirteen
    fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred hundreds thousand thousands million millions billion dozen half halves quarter third thirds first
    second fourth fifth sixth seventh eighth ninth tenth twice thrice double doubles triple single both pair
    couple few several
"""
_GERMAN = """
    nicht nie niemals nimmer kein keine keinen keiner keinem keines nichts niemand niemanden nirgends nirgendwo
    ohne weder noch kaum selten verboten verbietet untersagt vermeiden vermeide unzulässig wenn falls sofern
    soweit solange sobald sonst ansonsten andernfalls bis bevor ehe nachdem während ob vorausgesetzt nur
    lediglich bloß bloss fall muss müssen außer ausser außerdem ausgenommen ausnahme ausnahmen ausschließlich
    jedoch aber sondern doch obwohl trotz trotzdem statt anstatt stattdessen dagegen denn null eins zwei drei
    vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn
    neunzehn zwanzig dreißig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend million
    millionen milliarde dutzend halb halbe hälfte viertel drittel erste ersten erster erstes zweite zweiten
    zweiter zweites dritte dritten dritter drittes vierte vierten fünfte fünften einmal zweimal dreimal doppelt
    dreifach beide beiden paar einige mehrere
"""
_FRENCH = """
    ne n pas jamais aucun aucune rien personne ni non nul nulle sans guère interdit interdite interdits éviter
    évite évitez défendu si lorsque lorsqu quand tant dès sinon avant après jusque jusqu pendant seulement
    uniquement seul seule seuls cas condition pourvu selon doit doivent faut sauf excepté exceptée hormis hors
    exception exceptions mais cependant toutefois pourtant néanmoins malgré quoique moins plutôt lieu zéro deux
    trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante
    cinquante soixante cent cents mille million millions milliard douzaine demi demie moitié tiers quart premier
    première premiers deuxième second seconde troisième quatrième cinquième fois double triple quelques
    plusieurs
"""
_SPANISH = """
    no nunca jamás jamas nada nadie ningún ningun ninguno ninguna ni sin tampoco apenas prohibido prohibida
    evitar evite evita si cuando mientras hasta antes después despues solo sólo solamente únicamente unicamente
    siempre caso condición según segun debe deben salvo excepto excepción excepcion excepciones menos pero sino
    aunque embargo obstante pese excluye excluido fuera cero uno dos tres cuatro cinco seis siete ocho nueve
    diez once doce trece catorce quince veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien
    ciento cientos mil millón millon millones docena medio media mitad tercio cuarto primero primer primera
    segundo segunda tercero tercera doble triple vez veces ambos ambas varios varias
"""
_MORE = """
    aint shant mustnt shouldnt wouldnt couldnt hasnt havent hadnt wasnt werent didnt nil nought naught trio aside
    lest wherever whichever whoever minus sans barring notwithstanding regardless upto min max nirgendwohin
    anderthalb höchstens mindestens zumindest hingegen allerdings dennoch ungeachtet wenige etliche lieber anstelle
    quitte faute moyennant quiconque puisqu quoiqu tandis abstraction quizá quizás cuándo quitando miles
"""
# Korean syllables that mean something only as a word of their own.
_KOREAN_WORDS = "안 못 때 만 두 세 네 한 몇 반 배 십 백 천 억 첫 단"
WORDS = frozenset((_ENGLISH + _GERMAN + _FRENCH + _SPANISH + _MORE + _KOREAN_WORDS).split())

_STEMS = """
    disallow disapprov forbid prohibit prevent disabl deni refus reject declin fail lack ignor skip exclu except
    exempt excep impossib unable unlikely insufficien optional condition contingen presum suppos assum absen missing
    maxim minim eleven twel[fv] thirt fort(?:y|ie) fift sixt sevent eight ninet twent hundred thousand million
    billion trillion dozen tripl quadrupl quintupl percent prozent pourcent kein nirgend niemand nimmer mitnicht
    unmöglich unerlaubt unzuläss ungültig fehl(?:t|en) verbiet verbot untersag abgesehen abzüg ausgenomm ausnahm
    ausschl vorbehalt unbeschadet gegebenenfalls \\w{1,9}falls insofern wofern indem unabhängig
    \\w{0,20}(?:hundert|tausend|milliard|zwanzig|dreißig|dreissig|vierzig|fünfzig|sechzig|siebzig|achtzig)
    \\w{0,20}(?:neunzig|zehn|fach|einhalb|viertel) (?:fünf|sechs|sieb(?:en)?|ach|neun|elf|zwölf)te aucun nulle
    interdi défen[ds] inutil manqu hormis éventuel quelqu milli \\w{2,20}i[eè]me
    (?:diz|huit|neuv|quinz|vingt|trent|quarant|cinquant|soixant|cent)ain \\w{0,20}douzain ningun ningún imposib
    prohib falt ausen evit supuest condicion veinti dieci \\w{1,12}cient[oa]s quinient sext s[ée]ptim octav noven
    d[ée]cim \\w{2,20}[ée]sim[oa] decena docena centena millar bill[oó]n cuart quint mitad cu[áa]drupl
"""
_STEM = re.compile(rf"(?:{'|'.join(_STEMS.split())})\w*")
"""How words begin that have many endings."""

_PHRASE = re.compile(
    r"\b(?:(?:as|so) long as|given that|at (?:least|most)|up to|subject to|pour ?cent|por ciento|s['’]ils?)\b"
    r"|[일이삼사오육칠팔구수몇][십백천만억]"
)
ENDINGS = ("면", "만", "때", "때는", "때만")
"""Korean endings of a condition or restriction."""

_CHINESE = """
    不 没 沒 無 无 非 未 别 別 勿 莫 禁 否 毋 免 停 拒 如果 若 假如 假使 要是 只要 只有 除非 万一 萬一 一旦 当 當 时
    時 则 則 仅 僅 只 必 须 須 之前 之后 之後 前提 条件 條件 直到 除 例外 但 然而 可是 却 卻 以外 之外 以前 以后
    以後 唯 甭 弗 缺 情况 情況 至少 最少 至多 最多 假定 设若 倘 等到 待 取决 取決 视情 視情
    拒绝 失败 失敗 俩 仨 虽 雖 反而 另 其他 其它 零 〇 两 兩 几 幾 半 双 雙 倍 多个 多個 数个 數個 首 第
"""
_JAPANESE = """
    ない なく なし なかっ ぬ ず ません まい 無 不 非 未 禁 止 避 もし なら ば たら 場合 とき 時 際 限り まで 前に
    後に 次第 だけ のみ しか 必 条件 べき 以外 除 例外 ただし 但し しかし けど けれ が、 でも ものの 代わり 他の
    ほか ひとつ ふたつ みっつ よっつ いつつ むっつ ななつ やっつ ここのつ ひとり ふたり 数個 半 倍 第 最初 複数 後で
    あとで 以上 以下 未満 超 ゼロ たび 逆に 拒 控え だめ ダメ やめ 別の 数
"""
_KOREAN = """
    않 못하 못한 없 아니 아닌 말고 말것 마라 마세요 금지 불가 불필요 미완 비활성 중지 피하 경우 만약 만일 동안 까지
    전에 후에 이후 이전 뒤에 뿐 오직 조건 해야 반드시 제외 외에 예외 하지만 그러나 지만 다만 단, 대신 빼고 다른 하나
    둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 스물 서른 마흔 번째 여러 절반 이상 이하 미만 초과 최대 최소 거부 거절 피해
    첫째 둘째 영 공 쉰 예순
"""
_KANA = re.compile(r"[\u3041-\u30ff]")
_HANGUL = re.compile(r"[\u1100-\u11ff\uac00-\ud7ff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


REVOKED = re.compile(
    r"\b(?:formerly|previously|used to|deprecat\w*|obsolete|outdated|superseded|wrong\w*|false|untrue|incorrect"
    r"|mistaken|abandoned|früher|ehemals|veraltet\w*|überholt|falsch\w*|unwahr|autrefois|obsolètes?|périmée?s?|fausse?s?|faux"
    r"|erronée?s?|obsolet[oa]s?|fals[oa]s?|erróne[oa]s?|anticuad[oa]s?)\b"
    r"|过时|過時|作废|作廢|废弃|廢棄|错误|錯誤|曾经|曾經|廃止|誤り|かつて|間違|旧|폐기|예전|잘못|틀린",
    re.IGNORECASE,
)
"""Words that take back what stands beside them."""


def guards(text: str) -> Counter[str]:
    """Return the guard words of a text. Han with Kana beside it is Japanese, alone it is Chinese."""
    folded = unicodedata.normalize("NFC", text).casefold()
    words = _WORD.findall(folded)
    found = Counter(w for w in words if w in WORDS or w.endswith(ENDINGS) or not WORDS.isdisjoint(re.split("['’]", w)))
    found.update(w for w in words if w.endswith(("n't", "n’t")) or (w not in WORDS and _STEM.fullmatch(w)))
    found.update(_PHRASE.findall(folded))
    parts = _KOREAN.split() if _HANGUL.search(folded) else []
    if _KANA.search(folded):
        parts += _JAPANESE.split()
    elif _HAN.search(folded):
        parts += _CHINESE.split()
    return found + Counter({part: count for part in dict.fromkeys(parts) if (count := folded.count(part))})


COVERED = _sets(
    {
        "en": "the a an and of to in is are was were for on with from by at as it its that this be has have had we "
        "our i my they their use uses used into then via per also all each which who how where can will about "
        "over new so",
        "de": "der die das und ist sind war im in den dem des ein eine einer einen mit von vom für auf zu zum zur "
        "wird werden wurde als auch an am bei nach über wir es sich dann durch unter oder wie so",
        "fr": "le la les l de des du d un une et est sont était en dans pour par avec sur au aux ce cette ces qui "
        "que se son sa ses nous on il elle puis ou comme chaque leur",
        "es": "el la los las de del un una y e es son era en con por para se su sus que al lo como este esta cada "
        "más luego o desde sobre entre",
    }
)
"""Commonest small words of the languages that the tables above cover."""

UNCOVERED = _sets(
    {
        "it": "il lo la i gli le di del della dello dei delle da dal dalla in nel nella con su per tra fra e è sono "
        "era che un una al alla si come anche ogni poi non",
        "pt": "o a os as de do da dos das em no na nos nas um uma e é são com por para se que ao à como mais cada "
        "depois não",
        "nl": "de het een en van in is zijn op te met voor aan door bij naar uit wordt worden ook dat die dan als "
        "om niet we",
        "sv": "och i att det en ett på är av för med till som den de har om inte vi från vid",
        "da": "og i at det en et på er af for med til som den de har om ikke vi fra ved",
        "pl": "i w z na do się jest są to że po od o dla przez jak a nie oraz który",
        "cs": "a v z na do se je jsou to že po od o pro jak i ne který s k",
        "tr": "ve bir bu ile için de da olarak olan her sonra gibi ne",
        "ro": "și în la de cu pe din un o este sunt care pentru se nu ca al",
        "fi": "ja on ei se että oli joka kun ovat sekä tai myös kanssa",
        "id": "dan di ke dari yang untuk dengan ini itu pada adalah akan oleh atau tidak",
        "vi": "và là của có cho được trong với các một những này khi",
        "ca": "el la els les de del dels i a al en un una amb per que és són no es va com més però sense aquest",
        "gl": "o a os as de do da dos das e en un unha que non con por para é se sen",
        "cy": "y yr yn a i o ar am ac mae gan nid na gyda ei eu fel sydd wedi heb",
        "ga": "an na a agus ar i go is do le ní sé tá bhí ag gan",
        "af": "die en van in is nie om te met vir op aan by dit wat as ook deur sy word sonder",
        "sl": "in je na se da so za v z ki kot ne po iz o brez",
        "hr": "i u na je da se su za od s koji kao ne ali po iz o bez",
        "et": "ja on ei et see kui oma ka mis siis ilma",
        "lv": "un ir ar no uz par ka kas lai pie bez",
        "lt": "ir su į iš kad tai už per kaip ne be",
        "is": "og að í á er sem til við um ekki fyrir með án",
        "sw": "na ya wa kwa ni za katika la si kama bila",
        "tl": "ang ng sa na at mga ay ito hindi para kung",
        "eu": "eta da ez du bat dira den ere gabe",
        "sq": "dhe në të e i me për nga që një nuk është pa",
        "eo": "la kaj de en estas por al ne kun ĝi kiu sen",
        "la": "et in est non ad cum ut sed ex de qui quae sine",
        "hu": "a az és egy is hogy nem van ezt meg vagy mint",
    }
)
"""The same of languages that share words with those; where one of them fits as well, a row waits."""
