"""Settings. Every one has a default that works on one machine; a broken value stops the start with a sentence."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from . import home as data_folder
from . import zone

PACKAGE = Path(__file__).resolve().parent


def _shipped(name: str) -> Path:
    """Return a folder that lies beside the package in a checkout and inside it in a wheel."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def env_int(name: str, default: int, *, at_least: int = 0) -> int:
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < at_least:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {at_least}, not “{text}”.")
    return int(text)


def env_hosts(name: str, default: list[str]) -> list[str]:
    hosts = [host.strip() for host in os.environ.get(name, "").split(",") if host.strip()]
    if any("*" in host or host.startswith(".") for host in hosts):
        raise ImproperlyConfigured(f"{name} must name each host; wildcards would let any web page reach your memory.")
    return hosts or default


def env_loopback(name: str) -> frozenset[str]:
    ports = [port.strip() for port in os.environ.get(name, "").split(",") if port.strip()]
    wrong = [port for port in ports if not re.fullmatch(r"(?:localhost|127\.0\.0\.1|::1):[0-9]{1,5}", port)]
    if wrong:
        raise ImproperlyConfigured(f"{name} lists ports such as 127.0.0.1:9000, with commas between, not “{wrong[0]}”.")
    return frozenset(ports)


HOME = data_folder.locate()
SECRET_KEY = os.environ.get("MEMORYREVIEW_SECRET_KEY") or data_folder.key(HOME, "secret.key")
DECISION_KEY = data_folder.key(HOME, "decision.key")  # keys the chain of decisions, see review.operations.ledger
DEBUG = False

ALLOWED_HOSTS = env_hosts("MEMORYREVIEW_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
_ADDRESS = os.environ.get("MEMORYREVIEW_PUBLIC_URL") or data_folder.address(HOME) or "http://127.0.0.1:8765"
PUBLIC_URL = _ADDRESS.rstrip("/")
if not PUBLIC_URL.startswith(("http://", "https://")):
    raise ImproperlyConfigured(f"MEMORYREVIEW_PUBLIC_URL must start with http:// or https://, not “{PUBLIC_URL}”.")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_q",
    "memoryreview.review",
]
MIDDLEWARE = [
    "memoryreview.middleware.check_host",
    "memoryreview.middleware.security_headers",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memoryreview.middleware.without_cookies",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "memoryreview.middleware.page_language",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "memoryreview.urls"
WSGI_APPLICATION = "memoryreview.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_shipped("templates")],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "memoryreview.review.views.context.frame",
            ],
            "loaders": [("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])],
        },
    }
]

# WAL with FULL: a 201 promises durability. IMMEDIATE: a deferred read-then-write fails at once under load.
_SQLITE: dict[str, object] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,  # seconds
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON",
}


def _sqlite(name: str) -> dict[str, object]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": HOME / name, "OPTIONS": dict(_SQLITE), "CONN_MAX_AGE": None}


# A host that died without a word must not keep its locks for the two hours that TCP allows it.
_KEEPALIVE = {
    "keepalives_idle": 30,  # seconds, like the next
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,  # milliseconds
    "options": "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3",  # the server's side
}


_OPTIONS: dict[str, dict[str, object]] = {
    "django.db.backends.sqlite3": _SQLITE,
    "django.db.backends.postgresql": {**_KEEPALIVE},
}


def _named(url: str) -> dict[str, object]:
    named: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=None, conn_health_checks=True)}
    return {**named, "OPTIONS": {**_OPTIONS[named["ENGINE"]], **named.get("OPTIONS", {})}}


DATABASES = {"default": _sqlite("memoryreview.sqlite3"), "queue": _sqlite("queue.sqlite3")}
if _url := os.environ.get("MEMORYREVIEW_DATABASE_URL", ""):
    try:
        DATABASES["default"] = _named(_url)
    except (ValueError, KeyError) as error:
        raise ImproperlyConfigured(
            "MEMORYREVIEW_DATABASE_URL is not the address of a PostgreSQL or SQLite database, such as postgres://…"
        ) from error
DATABASE_ROUTERS = ["memoryreview.routers.QueueRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

Q_CLUSTER: dict[str, Any] = {
    "name": "memoryreview",
    "label": "memoryreview",
    "workers": 1,
    "timeout": 300,  # seconds; a task that runs longer is stopped
    "retry": 900,  # seconds; must exceed timeout, else a task runs twice
    "max_attempts": 3,
    "poll": 0.5,  # seconds
    "bulk": 10,
    "save_limit": 100,
    "catch_up": False,
}
if _broker := os.environ.get("MEMORYREVIEW_BROKER_URL", ""):
    if not _broker.startswith(("redis://", "rediss://", "unix://")):
        raise ImproperlyConfigured("MEMORYREVIEW_BROKER_URL must be a Redis address such as redis://127.0.0.1:6379/0.")
    Q_CLUSTER["redis"] = _broker
else:
    Q_CLUSTER["orm"] = "queue"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "queue"

SESSION_COOKIE_NAME = "memoryreview_session"
SESSION_COOKIE_AGE = 12 * 60 * 60  # seconds
SESSION_COOKIE_SAMESITE = "Strict"
SESSION_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
CSRF_USE_SESSIONS = True
CSRF_FAILURE_VIEW = "memoryreview.review.views.errors.csrf_failure"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL.startswith("https://") else []
if PUBLIC_URL.startswith("https://"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024  # bytes; page forms (an edited document arrives url-encoded)
BODY_MAX_BYTES = env_int("MEMORYREVIEW_BODY_MAX_BYTES", 1024 * 1024, at_least=1024)  # API and webhook
PENDING_PER_AGENT = env_int("MEMORYREVIEW_PENDING_PER_AGENT", 1000, at_least=1)
EXPIRE_DAYS = env_int("MEMORYREVIEW_EXPIRE_DAYS", 90, at_least=1)  # a proposal nobody decided
OLD_DAYS = env_int("MEMORYREVIEW_OLD_DAYS", 7, at_least=1)  # the queue says so when a proposal waits longer
DIGEST_HOUR = env_int("MEMORYREVIEW_DIGEST_HOUR", 8, at_least=0)  # from when on the digest of a day is made
if DIGEST_HOUR > 23:
    raise ImproperlyConfigured(f"MEMORYREVIEW_DIGEST_HOUR must be an hour from 0 to 23, not “{DIGEST_HOUR}”.")
DIGEST_DAYS = env_int("MEMORYREVIEW_DIGEST_DAYS", 30, at_least=1)  # how long the file of a digest is kept
WEBHOOK_LOOPBACK = env_loopback("MEMORYREVIEW_WEBHOOK_LOOPBACK")  # ports of this machine that webhooks may go to
STEP_UP_MINUTES = env_int("MEMORYREVIEW_STEP_UP_MINUTES", 15, at_least=1)  # risky acts ask for the password again

LANGUAGE_CODE = "en"  # of all that is recorded, and of pages where neither a cookie nor the browser asks otherwise
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [PACKAGE / "locale"]
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 60 * 60  # seconds
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
try:
    MACHINE_ZONE = zone.machine_zone()  # in which a memory's “yesterday” is meant
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from error

STATIC_URL = "/static/"
STATICFILES_DIRS = [_shipped("static")]
WHITENOISE_USE_FINDERS = True  # serve from the package; no collect step, no second process
WHITENOISE_MAX_AGE = 3600  # seconds; addresses carry the version

LOG_PATH = HOME / "memoryreview.log"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "memoryreview.logs.LineFormatter"}},
    "handlers": {
        "file": {
            "class": "logging.handlers.RotatingFileHandler",
            "filename": LOG_PATH,
            "maxBytes": 2_000_000,
            "backupCount": 3,
            "formatter": "line",
            "delay": True,
        },
    },
    "root": {"handlers": ["file"], "level": "INFO"},
    "loggers": {"django": {"handlers": ["file"], "level": "WARNING", "propagate": False}},
}
