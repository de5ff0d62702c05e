"""Words that count days from the day of writing, and the words around them that decide whether they do, by language.

Latin entries are whole words, case-folded; Chinese, Japanese and Korean ones are parts of a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

OFFSETS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "en": {"the day before yesterday": -2, "yesterday": -1, "today": 0},
        "de": {"vorgestern": -2, "gestern": -1, "heute": 0},
        "fr": {"avant-hier": -2, "hier": -1, "aujourd'hui": 0, "aujourd’hui": 0},
        "es": {"anteayer": -2, "ayer": -1, "hoy": 0},
        "ja": {"一昨日": -2, "おととい": -2, "昨日": -1, "きのう": -1, "今日": 0, "本日": 0},
        "zh": {"前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0},
        "ko": {"그저께": -2, "어제": -1, "오늘": 0},
    }
)
"""Days from the day of writing to the day meant."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WRITTEN = {
    "en": """
        every each always usually often normally typically generally sometimes whenever never daily nightly weekly
        monthly if unless whether would should could might may must can cannot will shall ought example examples eg
        e.g i.e such said says say tell tells told ask asks asked saying according claims claimed reported reports
        mentioned mentions quote quotes quoted called named labelled labeled titled until till since ago older than
        last next week weeks month months year years tomorrow nowadays still anymore please remember default
        defaults placeholder mock mocked think thought believed assumed guessed expected
        """,
    "de": """
        jeder jede jeden jedem jedes jeweils immer stets täglich nächtlich wöchentlich monatlich meist meistens oft
        manchmal üblicherweise normalerweise gewöhnlich nie wenn falls ob sobald würde würden sollte sollten könnte
        könnten müsste müssten dürfte dürften wird werden soll sollen muss müssen kann können darf dürfen sagt sagte
        sagen laut zufolge meinte meint fragte fragt heißt namens genannt beispiel beispielsweise etwa
        voreinstellung standard z.b bis seit ab letzte letzten letzter letztes nächste nächsten nächster woche
        wochen monat monate jahr jahre morgen bitte schrieb berichtete
        """,
    "fr": """
        chaque tous toutes toujours souvent parfois habituellement généralement normalement jamais si quand lorsque
        lorsqu devrait devraient pourrait pourraient aurait auraient serait seraient faut doit doivent peut peuvent
        sera seront dit disait demande demandé selon exemple défaut appelé appelée nommé nommée intitulé depuis
        jusqu jusque semaine semaines mois an ans année années dernier dernière prochain prochaine demain merci
        quotidien quotidiennement
        """,
    "es": """
        cada todos todas siempre suele suelen normalmente generalmente habitualmente veces nunca jamás si cuando
        debería deberían podría podrían sería habría debe deben puede pueden será serán dijo dice preguntó pregunta
        según ejemplo llamado llamada llamó titulado defecto desde hasta semana semanas mes meses año años pasado
        pasada próximo próxima mañana favor diario diariamente
        """,
    "zh": """
        每 如果 若 假如 假使 要是 是否 吗 嗎 呢 什么 什麼 怎么 怎麼 哪 谁 誰 多少 应 應 该 該 可能 也许 也許 或许 会
        會 将 將 要 需 必须 必須 能 可以 准备 準備 计划 計劃 打算 例如 比如 譬如 说 說 称 稱 表示 据 據 问 問 按钮
        按鈕 标签 標籤 选项 選項 总是 總是 通常 经常 經常 一般 往往 有时 有時 时 時 别 別 请 請 规则 規則 当 當 直到
        以来 以來 为止 為止 明天 明日 上周 下周 本周 去年 明年 上月 下月 没 沒 不 叫 名为 名為 几 幾 月 设为 設為
        改名 命名 默认 默認 当作 叫做 页签 頁籤 这个词 這個詞 一词 一詞 字段 变量 變數 函数 函數 视图 筛选 篩選
        """,
    "ja": """
        毎 ごと たび 際に 頃 もし たら だら 場合 とき 時に 時は れば えば けば せば てば めば いつも 常に 通常 普段
        と言 という といった と述 と聞 とのこと そうだ らしい べき つもり 予定 はず 例えば たとえば 例： 例: ボタン
        タブ ルール 規則 先週 来週 今週 先月 来月 今月 昨年 来年 去年 明日 あした 翌日 ください ましょう かもしれ
        だろう でしょう まで 以来 月 フィールド 変数 関数 オプション フィルタ ラベル 列 項目 既定 デフォルト
        """,
    "ko": """
        매일 매주 매달 매번 마다 항상 늘 언제나 보통 가끔 자주 만약 만일 경우 때 라면 으면 하면 되면 다면 거나 다고
        라고 냐고 자고 려고 버튼 탭 예: 예를 규칙: 지난 다음 이번 내일 모레 작년 내년 지난주 다음주 까지 부터 이후
        이전 해야 하자 하세요 것이다 겠 듯 같 월 필드 변수 함수 옵션 필터 라벨 항목 기본값 값을 값은
        """,
}
GUARDS: Mapping[str, frozenset[str]] = MappingProxyType({language: _words(text) for language, text in _WRITTEN.items()})
"""Signs of a habit, rule, condition, question, quotation or another time: with one of them no day is sure."""

_HARMLESS_CHINESE = """
    为了 為了 了解 除了 罢了 罷了 不了 而已 超时 超時 及时 及時 定时 定時 临时 臨時 实时 實時 同时 同時 小时 小時
    计时 耗时 功能 性能 智能 会议 會議 会话 會話 机会 機會 社会 重要 主要 摘要 概要 数据 數據 数据库 证据 根据 依据
    说明 說明 名称 名稱 对称 問題 问题 访问 訪問 请求 請求 申请 申請 区别 類別 类别 不同 响应 响應 应用 應用 适应
    供应 当前 工具
"""
HARMLESS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"zh": tuple(_HARMLESS_CHINESE.split()), "ja": ("時間", "月次"), "ko": ("때문", "오늘")}
)
"""Words in which a guard or a sign of the past is only a part."""

ENGLISH_PAST = _words("""
    was were did had went broke came took gave got made lost sent found built ran fell began wrote saw kept left met
    brought bought thought paid held stood won grew knew threw chose drove spoke woke rose hung froze stuck caught
    taught felt dealt led fed sold spent slept became forgot hid shook stole swept tore wore withdrew undid redid
    rebuilt overran rewrote wasn't weren't didn't wasn’t weren’t didn’t
    """)
ENGLISH_FINITE = _words("""
    was were did went broke took gave fell began wrote saw grew knew threw chose drove spoke woke rose froze forgot
    shook stole withdrew rewrote failed crashed happened occurred expired arrived died collapsed disappeared vanished
    succeeded wasn't weren't didn't wasn’t weren’t didn’t
    """)
"""Past forms that cannot be a participle of what stands before them."""

ENGLISH_DIRECT = _words(
    """
    failed crashed happened occurred expired arrived died collapsed disappeared vanished succeeded broke went came fell
    met deployed shipped released launched landed talked worked migrated merged upgraded rebooted resigned
    """
)
"""Past forms right after which the word cannot be their object: “we renamed yesterday” may speak of a name."""

ENGLISH_NAMED = _words(
    """
    word variable function field tab button label column filter option key keyword method parameter flag value string
    constant preset view heading name property attribute command term phrase placeholder setting range enum alias macro
    checkbox menu reads
    """
)
"""Nouns after which a word is what they are called."""

ENGLISH_NO_PAST = _words("hundred hundreds embed shed wed naked sacred wicked indeed used")
ENGLISH_PRONOUNS = _words("we i he she they it there someone somebody nobody everybody")
ENGLISH_DETERMINERS = _words("the a an our my their his her its both all")
ENGLISH_PREPOSITIONS = _words("to in on onto into with by for at from over off up down back out after")
ENGLISH_ADVERBS = _words("also finally suddenly again just then only already quickly manually successfully")
ENGLISH_STOP = _words("""
    is am are isn't aren't isn’t aren’t be been being has have hasn't haven't do does don't doesn't that which who
    whom whose what where when while and or but nor because so than then once we i he she they you everyone people
    this
    """)
ENGLISH_BEFORE = ENGLISH_NAMED | _words(
    """
    the a an of from for by before after on in at with like as about to into our my their his her its only even early
    late just not and or vs versus plus minus day days load show list compare include sort select was
    were be been is are folder channel directory template list
    """
)
"""Words after which the relative word is a noun or a name, not the adverb of the sentence."""

ENGLISH_AFTER = _words("because due after with without at in on by to for during despite")

GERMAN_PAST = _words("""
    war waren warst hatte hatten wurde wurden schlug schlugen ging gingen kam kamen fiel fielen lief liefen brach
    brachen gab gaben stand standen fand fanden begann begannen ließ liessen ließen nahm nahmen hielt hielten blieb
    blieben stieg stiegen sprang sprangen traf trafen trat traten verlor verloren fuhr fuhren sah sahen hing hingen
    starb starben verschwand verschwanden entstand entstanden
    """)
GERMAN_WEAK_PAST = _words("""
    scheiterte scheiterten stürzte stürzten startete starteten endete endeten funktionierte funktionierten passierte
    meldete meldeten zeigte zeigten führte führten machte machten stellte stellten wechselte wechselten änderte
    änderten löschte löschten ersetzte ersetzten erledigte erledigten löste lösten kaufte kauften baute bauten
    dauerte dauerten
    """)
GERMAN_HAVE = _words("hat haben habe hatte hatten")
GERMAN_BE = _words("ist sind bin")
GERMAN_FIRST = _words("wir ich")
GERMAN_PASSIVE = _words("wurde wurden")
GERMAN_STOP = _words("und oder aber weil dass welche welcher welches wo was wer")
GERMAN_STATE = _words("war waren hatte hatten")
"""Verbs right after which the word is what something was, unless more follows."""

GERMAN_BEFORE = _words("""
    von seit bis ab vor als wie zu auf in aus an mit nach unter über zwischen für
    der die das den dem des ein eine einen einem einer noch auch selbst erst schon
    nur und oder tab reiter button wort knopf feld spalte option filter variable funktion label taste
    """)
GERMAN_AFTER = _words("abend früh nacht morgen mittag nachmittag vormittag und oder bis noch")

FRENCH_HAVE = _words("ai as a avons avez ont avais avait avions avaient")
FRENCH_BE = _words("suis est sommes sont étais était étaient fut furent")
FRENCH_BETWEEN = _words("pas bien déjà enfin encore tout aussi été complètement rapidement finalement brusquement")
FRENCH_PARTICIPLES = _words("""
    fini choisi réussi rempli grandi parti sorti servi suivi senti mis pris permis promis remis compris appris
    repris fait refait écrit construit conduit produit réduit détruit introduit vu lu eu pu su dû voulu reçu perdu
    rendu vendu attendu répondu descendu entendu tenu venu devenu revenu obtenu maintenu connu disparu apparu résolu
    rompu battu ouvert découvert offert mort interrompu corrompu
    """)
FRENCH_FIRST = _words("nous j on")
FRENCH_STOP = _words("qui que qu dont où et ou mais car puis parce quoi")
FRENCH_BEFORE = _words("d de depuis jusqu à avant dès le la les comme que du des un une pour et ou")
FRENCH_NAMED = _words("bouton onglet champ option filtre mot variable fonction colonne étiquette valeur")
FRENCH_DIRECT = _words(
    """
    échoué planté tombé tombée arrivé arrivée terminé démarré commencé cessé expiré migré déployé livré réussi parti
    disparu redémarré
    """
)
FRENCH_AFTER = _words("car à après avec dans sur par pour vers en chez faute suite")
FRENCH_DAY_PARTS = _words("soir matin midi après-midi nuit encore même")

SPANISH_PAST = _words("""
    fue fueron fuimos hubo hizo hicieron hicimos hice tuvo tuvieron tuvimos estuvo estuvieron estuvimos pudo pudieron
    puso pusieron pusimos vino vinieron vinimos dio dieron dimos trajo trajeron condujo redujo produjo introdujo quiso
    supo
    """)
SPANISH_NO_PAST = _words("así aquí ahí allí café qué porqué sí mí té sé esté dé")
SPANISH_FIRST = _words("he hemos")
SPANISH_PARTICIPLES = _words("hecho escrito visto puesto vuelto roto abierto resuelto")
SPANISH_STOP = _words("que quien quienes cual donde y e o u pero porque")
SPANISH_BEFORE = _words("de desde hasta por para como que el la los las del al un una y o")
SPANISH_NAMED = _words("botón pestaña campo opción filtro palabra variable función columna etiqueta valor")
SPANISH_DIRECT = _words(
    """
    falló fallaron cayó cayeron terminó terminaron empezó empezaron expiró expiraron murió ocurrió pasó desplegamos
    migramos llegó llegaron arrancó reinició
    """
)
SPANISH_AFTER = _words("por a en con tras para debido sin sobre")
SPANISH_DAY_PARTS = _words("en por mismo tarde noche")

CHINESE_SUBJECTS = "我们|我們|我|他们|他們|团队|團隊|大家"
CHINESE_ACTS = (
    "完成|修复|修復|发布|發布|部署|上线|上線|更新|合并|合併|迁移|遷移|升级|升級|回滚|重启|重啟|通知|提交|删除|刪除|添加|"
    "创建|創建|修改|切换|切換|关闭|關閉|解决|解決|新增|移除|替换|替換"
)
CHINESE_BOUND = "的之起以到至前后後晚早上下中夜凌内內间間是和与與、/／·"
"""Characters after which the word belongs to something larger."""

JAPANESE_BOUND = (
    "の",
    "から",
    "まで",
    "より",
    "も",
    "以",
    "で",
    "に",
    "が",
    "を",
    "へ",
    "付",
    "中",
    "比",
    "分",
    "と",
    "や",
    "・",
    "／",
    "/",
    "こそ",
    "だった",
    "でした",
    "、と",
    "という",
)
JAPANESE_NO_TODAY = "なっ てき 使わ 一般 現在 もう"
KOREAN_PRESENT = frozenset("있")
