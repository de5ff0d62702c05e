"""Words that decide what a difference between two statements means, by their folded form.

English, German, French, Spanish; parts of words for Chinese, Japanese and Korean. A word that is missing here only
makes a suggestion vaguer, or keeps it from being made: nothing is ever applied by these tables.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION = _words(
    """
    a an the this that these those it its and or of to in on at by for from with as is are was were be been being am
    has have had do does did will would shall should can could may might must i we you he she they them his her their
    our your my me us so then than too very just also there here where which who whom whose what how e.g i.e etc via per
    into onto over between about
    der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird werden hat haben im am zum
    zur von vom zu mit für auf aus als auch sich es wir ihr sie er wie bei nach
    le la les l un une des du de d et ou est sont était a ont en dans sur au aux par pour avec ce cette ces se son sa
    ses nous vous il elle ils elles que qui
    el los las una unos unas y o es son era fue está están del al con por para su sus lo nos
    """
)
"""Small words without a content of their own."""

NEGATION = _words(
    """
    not no never none nobody nothing neither nor cannot without don't dont doesn't doesnt didn't isn't isnt aren't
    wasn't weren't won't wont can't cant shouldn't mustn't wouldn't hasn't haven't avoid stop
    nicht nie niemals kein keine keinen keiner keinem ohne
    pas jamais aucun aucune sans ne n
    nunca jamás ningún ninguna sin tampoco
    """
)
NEGATION_PARTS = tuple(_words("不 没 沒 無 无 未 勿 禁 ない なく ません なし ず 않 못 없 아니 금지"))
"""The same in scripts without blanks between words."""

_OPPOSITES = """
    on off | enabled disabled | enable disable | yes no | true false | always never | allowed forbidden prohibited |
    allow forbid | approved rejected pending waiting declined accepted | accept reject decline |
    done open pending todo | active inactive | required optional | before after | minimum maximum min max |
    public private internal |
    like dislike | likes dislikes | hidden visible | include exclude | included excluded | increase decrease | up down |
    left right | first last | open closed | running stopped | success failed failure partial | more less fewer |
    above below | least most | started finished | alive dead | supported unsupported | safe unsafe | valid invalid |
    passed failed | online offline | available unavailable | daily weekly monthly hourly yearly | high low medium |
    deprecated current | manual automatic | tabs spaces | sync async | light dark |
    an aus | ja nein | wahr falsch | immer nie niemals | erlaubt verboten | genehmigt abgelehnt offen | vor nach |
    aktiv inaktiv | täglich wöchentlich monatlich | mindestens höchstens |
    oui non | vrai faux | toujours jamais | activé désactivé | autorisé interdit | approuvé rejeté | avant après |
    sí no | siempre nunca | activado desactivado | permitido prohibido | aprobado rechazado | antes después
"""
OPPOSITES: tuple[frozenset[str], ...] = tuple(_words(group) for group in _OPPOSITES.split("|"))
"""Groups of words of which only one can be true of the same thing at the same time."""

STATES: tuple[frozenset[str], ...] = tuple(
    group for group in OPPOSITES if group & {"on", "enabled", "approved", "done", "active", "deprecated", "running",
        "success", "passed", "online", "open", "aktiv", "genehmigt", "activé", "approuvé", "activado", "aprobado"}
)  # fmt: skip
"""Those of them that say in what state a thing is."""

GROUPS: dict[str, tuple[int, ...]] = {
    word: tuple(number for number, group in enumerate(OPPOSITES) if word in group)
    for word in frozenset().union(*OPPOSITES)
}
"""The groups that a word is in."""

OPPOSITE_PARTS: tuple[tuple[str, str], ...] = (
    ("开", "关"), ("開", "關"), ("是", "否"), ("启用", "禁用"), ("允许", "禁止"), ("前", "后"), ("前", "後"),
    ("有効", "無効"), ("許可", "禁止"), ("可", "不可"), ("켜", "꺼"), ("허용", "금지"), ("전", "후"),
)  # fmt: skip

LINKING = _words(
    """
    is are was were be has have had = → -> => : uses use used using prefers prefer preferred likes like loves love hates
    wants want needs need runs run lives live called named means equals stays contains says speaks moved owns owned
    stores stored written deploys deployed hosted
    ist sind war heißt nutzt verwendet bevorzugt mag will hat läuft
    est sont utilise préfère aime veut s'appelle es son usa prefiere quiere tiene
    """
)
"""After one of these the value of an attribute begins; before it stands whose attribute it is."""

LINKING_PARTS = frozenset(["是", "为", "為", "用", "は", "を", "が", "に", "이", "가", "은", "는", "을", "를"])

SCOPE = _words(
    """
    staging stage production prod development dev test testing qa local remote ci linux macos mac windows ios android
    frontend backend client server admin user customer reader writer read write pull push upload download import export
    input output source target upstream downstream primary secondary replica master slave request response encode decode
    create update delete insert remove add start stop begin end old new left right terms privacy inbound outbound
    front back encrypt decrypt serialize deserialize lock unlock open close
    entwicklung produktion produktiv lesen schreiben développement lire écrire desarrollo producción leer escribir
    """
)
"""Where these differ, two statements are about two things, however alike they read."""

UNITS = _words(
    """
    ms s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days week weeks month months year
    years b kb mb gb tb kib mib gib bytes byte bit bits px pt em rem % percent °c °f km m cm mm kg g mg l ml hz khz mhz
    ghz eur usd gbp chf euro euros dollar dollars cent cents times x
    sekunde sekunden minuten stunde stunden tag tage woche wochen monat monate jahr jahre prozent
    seconde secondes heure heures jour jours semaine semaines mois an ans
    segundo segundos minuto minutos hora horas día días semana mes meses año años
    """
)

WHEN = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays weekday weekdays weekend weekends january february march april june july august september october november
    december noon midnight morning afternoon evening night today tomorrow yesterday
    montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags freitags
    samstags sonntags januar februar märz mai juni juli oktober dezember morgens abends nachts
    lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août septembre octobre
    novembre décembre lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio
    agosto septiembre octubre noviembre diciembre
    """
)

_NUMBERS = """
    0 zero null zéro cero | 1 one eins once | 2 two zwei deux dos twice | 3 three drei trois tres thrice |
    4 four vier quatre cuatro | 5 five fünf cinq cinco | 6 six sechs seis | 7 seven sieben sept siete |
    8 eight acht huit ocho | 9 nine neun neuf nueve | 10 ten zehn dix diez | 11 eleven elf onze |
    12 twelve zwölf douze doce dozen | 13 thirteen dreizehn treize trece | 14 fourteen vierzehn quatorze catorce |
    15 fifteen fünfzehn quinze quince | 16 sixteen sechzehn seize | 17 seventeen siebzehn | 18 eighteen achtzehn |
    19 nineteen neunzehn | 20 twenty zwanzig vingt veinte | 30 thirty dreißig trente treinta |
    40 forty vierzig quarante cuarenta | 50 fifty fünfzig cinquante cincuenta | 60 sixty sechzig soixante sesenta |
    70 seventy siebzig setenta | 80 eighty achtzig ochenta | 90 ninety neunzig noventa | 100 hundred hundert cent cien |
    1000 thousand tausend mille
"""
NUMBERS: dict[str, str] = {
    word: digits for digits, *words in (group.split() for group in _NUMBERS.split("|")) for word in words
}
"""Number words by their digits; articles that mean "one" are left out."""

NUMERALS = frozenset("〇零一二三四五六七八九十百千万萬亿億两兩")

END_OF_VALIDITY = _words(
    "until till by from due expires expire expired since before after starting valid bis ab seit vor nach jusqu'au "
    "depuis avant après hasta desde antes después"
)
"""In parentheses with a date these say when something holds; other words there only say when it was noted."""

ENUMERATORS = _words(
    """
    preference preferences rule rules note notes lesson lessons fact facts entry memory memories item point tip
    reminder learning insight regel notiz hinweis punkt eintrag règle note point regla nota punto entrada
    规则 規則 笔记 注意 要点 ルール メモ 규칙 메모
    """
)
"""Nouns that number the statements of a list: "Rule 3:" says nothing about the rule."""

LEAD_INS = _words(
    "correction corrected update updated edit note fix fixed important nb reminder korrektur nachtrag hinweis wichtig "
    "mise-à-jour remarque corrección nota importante 更正 更新 注意 訂正 補足 정정 수정 참고"
)
"""Labels before a statement that change nothing of what it is about."""
