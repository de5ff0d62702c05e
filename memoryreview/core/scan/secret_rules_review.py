"""Review rules: shapes that may be secrets, and values behind a label."""

from __future__ import annotations

import re

from memoryreview.core.model import Severity

from .labelled import judge_assigned, judge_bearer, judge_group_key, judge_stated, judge_token
from .secret_rule import NO_PLACEHOLDER, Judge, SecretRule

_PASSPHRASES = (
    "password|passwd|passphrase|pass phrase|passcode|passwort|kennwort|zugangscode|contraseña|contrasena|mot de passe"
    "|mdp|senha|palavra-passe|wachtwoord|lösenord|adgangskode|passord|salasana|hasło|heslo|şifre|parola|kata sandi"
    "|mật khẩu|пароль|סיסמה|كلمة المرور|كلمة السر|पासवर्ड|รหัสผ่าน|κωδικός|비밀번호|비번|암호|패스워드|密码|密碼|口令"
    "|パスワード|パスフレーズ|暗証番号"
)
_SHORT_LABELS = "pass|pwd|pw|clave"
_KEY_LABELS = (
    "secret|token|credential|password|passwd|passphrase|passwort|apikey|secretkey|accesskey|privatekey|key"
    "|schlüssel|jeton|clé|токен|ключ|令牌|密钥|密鑰|トークン|シークレット|キー|토큰|시크릿|비밀키"
)

_PASSWORD_LABEL = rf"(?P<label>{_PASSPHRASES}|(?<![A-Za-z])(?:{_SHORT_LABELS}))(?![A-Za-z])"
_KEY_LABEL = rf"(?P<label>{_KEY_LABELS.replace('|key|', '|(?<![A-Za-z])key|')})s?(?![A-Za-z])"
_WHOSE = r"(?: (?:for|of|on|für|von|del?|du|pour|para|per|di)(?: [\w.@\-]{1,20}){1,3}| \([^)\n]{1,30}\))?"
_CLOSING = r"[\"'`*_)\]]{0,4}"
_SIGN = r"(?P<sign>\s{0,3}(?::=|=>|->|→|:|=|\|))[\s*_]{0,4}"
_VERB = (
    r"(?P<sign>\s{0,3}(?:\b(?:is|was|to|lautet|ist|war|es|est|è|é|jest)\b|—|–|是|为|為|は|が|은|는|이|가|\s))"
    r"[\s*_]{0,4}"
)
_VALUE = (
    r"(?:[\"'`“‘«「『„](?P<quoted>[^\"'`”’»」』“\n]{3,80})[\"'`”’»」』“]"
    r"|(?P<bare>[^\s\"'`,;|<>(){}\[\]、。，；“”「」]{3,80}))"
)


def _shape(
    identifier: str, what: str, min_entropy: float, literals: str, pattern: str, example: str, near: str | None = None
) -> SecretRule:
    literal_words = tuple(literals.split())
    return SecretRule(identifier, what, min_entropy, literal_words, re.compile(pattern), example, near, Severity.REVIEW)


def _labelled(
    identifier: str, what: str, words: str, pattern: str, judge: Judge, example: str, near: str, group: int | str
) -> SecretRule:
    compiled = re.compile("(?i)" + pattern)
    number = compiled.groupindex[group] if isinstance(group, str) else group
    return SecretRule(
        identifier, what, 0, tuple(words.split("|")), compiled, example, near, Severity.REVIEW, number,
        NO_PLACEHOLDER, judge, starts_with_literal=True,
    )  # fmt: skip


REVIEW_RULES: tuple[SecretRule, ...] = (
    _shape(
        "mailgun-key", "a Mailgun key", 3.0, "key-",
        r"(?<![A-Za-z0-9_])key-[0-9a-f]{32}(?![A-Za-z0-9_])", "key-<hex:32>",
    ),
    _shape(
        "stripe-test", "a Stripe test key", 3.0, "sk_test_ rk_test_",
        r"(?<![A-Za-z0-9_])[sr]k_test_[A-Za-z0-9]{20,250}", "sk_test_<b62:20>",
    ),
    _shape(
        "django-insecure", "a Django secret key", 3.0, "django-insecure-",
        r"django-insecure-[^\s'\"`]{30,}", "django-insecure-<b62:30>",
    ),
    _shape(
        "sentry-dsn", "a Sentry address with its key", 0, "sentry.io/",
        r"https://[0-9a-f]{32}(?::[0-9a-f]{32})?@[a-z0-9.\-]{0,80}ingest\.[a-z.]{0,40}sentry\.io/\d{1,20}",
        "https://<hex:32>@o<dig:6>.ingest.sentry.io/<dig:1>", "https://<hex:31>@o<dig:6>.ingest.sentry.io/<dig:1>",
    ),
    _shape(
        "password-hash", "a stored password hash", 0, "$2 $5$ $6$ $argon2 $y$",
        r"\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}|[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}"
        r"|argon2(?:id|i|d)\$v=\d{1,3}\$[^\s]{20,400}|y\$[./A-Za-z0-9]{1,20}\$[./A-Za-z0-9$]{30,})",
        "$2b$12$<b62:53>",
    ),
    _shape(
        "k8s-secret", "a Kubernetes secret", 0, "Secret",
        r"(?m)^[ \t\-]{0,40}kind:[ \t]{0,8}[\"']?Secret[\"']?[ \t\r]{0,8}$", "kind: Secret", "kind: SecretStore",
    ),
    _shape(
        "otpauth", "the seed of one-time passwords", 0, "otpauth://",
        r"otpauth://(?:totp|hotp)/[^\s]{0,300}secret=[A-Z2-7]{16,}", "otpauth://totp/Acme:bob?secret=<b32:16>",
    ),
    _shape(
        "pin", "a PIN", 0, "PIN pin",
        r"\b(?:PIN|Pin|pin code|PIN[- ]?[Cc]ode)\b[\"'`*]{0,3}\s{0,2}(?::|=|\bis\b|\bist\b)[\s*]{0,3}[\"'`]?"
        r"(?P<value>\d{4,8})(?![\d.])",
        "PIN: <dig:4>",
    ),
    _labelled(
        "auth-header", "credentials of a request header", "authorization",
        r"\b(?:authorization|proxy-authorization)\b[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3}"
        r"([A-Za-z0-9+/=_.\-]{16,})",
        judge_bearer, "Authorization: Bearer <b62:24>", "Authorization: Bearer <b62:15>", 1,
    ),
    _labelled(
        "netrc", "a login of a .netrc file", "machine",
        r"\bmachine\s{1,8}\S{1,100}\s{1,8}login\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(\S{6,200})",
        judge_bearer,
        "machine ftp.acme.test login bob password <b62:10>", "machine ftp.acme.test login bob password a", 1,
    ),
    _labelled(
        "grouped-key", "a licence or ticket key", "key|code|serial|licen|ticket|token|secret",
        r"(?:key|code|serial|licen[cs]e|ticket|token|secret)\b[^\n]{0,12}?"
        r"(?<![A-Za-z0-9\-])(?P<value>(?-i:[A-Z0-9]{3,8}(?:-[A-Z0-9]{3,8}){3,9}))(?![A-Za-z0-9\-])",
        judge_group_key, "licence key K<up:4>-1<up:3>-<up:4>-<up:4>", "licence key K<up:4>-1<up:3>", "value",
    ),
    _labelled(
        "keyword-assign", "a key or token behind its label", _KEY_LABELS,
        _KEY_LABEL + _WHOSE + _CLOSING + r"(?P<sign>\s{0,3}(?::=|=>|=|:|\||\bis\b|は|是|为|\s))[\s*_]{0,4}[\"'`]?"
        r"(?P<value>[A-Za-z0-9+/=_.\-~!@#$%^&*]{12,})",
        judge_token, "bot token: <b62:24>", "bot token: the-quick-brown-fox-jumps", "value",
    ),
    _labelled(
        "labelled-password", "a password behind its label", f"{_PASSPHRASES}|{_SHORT_LABELS}",
        _PASSWORD_LABEL + _WHOSE + _CLOSING + _SIGN + _VALUE,
        judge_assigned, "Passwort: `<low:6>9x`", "Passwort: im Tresor", "label",
    ),
    _labelled(
        "stated-password", "a password behind its label", _PASSPHRASES,
        _PASSWORD_LABEL + _WHOSE + _CLOSING + _VERB + _VALUE,
        judge_stated,
        'the passphrase is "correct <low:6> battery staple"', "the password is stored in the vault", "label",
    ),
)  # fmt: skip
