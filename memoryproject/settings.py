"""The one settings file: reads the environment once, at start, and refuses what it cannot use (X04).

Reading settings starts nothing and writes nothing: type checkers and tests import this module too.
"""

import secrets
from pathlib import Path
from typing import Any

import psycopg
import structlog
from django.conf import global_settings
from psycopg.conninfo import conninfo_to_dict

from jobs.logging import logging_config
from lifecycle import local
from memoryproject import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent
MODE = env.mode()
PRODUCTION = MODE == "production"
DATA_DIR = local.data_dir()

DEBUG = False
SECRET_KEY = env.text("MEMORYPROJECT_SECRET_KEY")
if PRODUCTION and len(SECRET_KEY) < 50:
    raise env.BadEnvironment(
        f"MEMORYPROJECT_SECRET_KEY has {len(SECRET_KEY)} characters; in production mode it needs 50 random ones."
    )
if not SECRET_KEY:
    # Without a first start there is no stored key; a passing one serves commands that sign nothing.
    SECRET_KEY = local.read_secret_key(DATA_DIR) or secrets.token_urlsafe(50)
ALLOWED_HOSTS = env.words("MEMORYPROJECT_HOSTS") or ([] if PRODUCTION else ["127.0.0.1", "localhost", "[::1]"])
if PRODUCTION and (not ALLOWED_HOSTS or "*" in ALLOWED_HOSTS):
    raise env.BadEnvironment(
        "MEMORYPROJECT_HOSTS is not set, or is *; in production mode name the hosts that this deployment answers for."
    )
CSRF_TRUSTED_ORIGINS = env.words("MEMORYPROJECT_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "axes",
    "guardian",
    "rest_framework",
    "django_htmx",
    "django_q",
    "django_structlog",
    "jobs",
    "audit",
    "accounts",
    "encryption",
    "agents",
    "conversations",
    "consent",
    "facts",
    "extraction",
    "chat",
    "lifecycle",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "accounts.middleware.ApiHeadersMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.middleware.MemberMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "memoryproject.urls"
WSGI_APPLICATION = "memoryproject.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- database ---------------------------------------------------------------------------------------------------------
DATABASE_POOL = env.integer("MEMORYPROJECT_DATABASE_POOL", default=0, minimum=0, maximum=200)


def _database(url: str) -> dict[str, Any]:
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:  # its text holds the URL, and that the password
        parts = {}
    if not parts.get("dbname"):
        raise env.BadEnvironment(
            "DATABASE_URL is no address of a PostgreSQL database; use postgresql://USER:PASSWORD@HOST:PORT/NAME."
        )
    options: dict[str, Any] = {"connect_timeout": 5, "application_name": "memoryproject"}
    if DATABASE_POOL:  # the web process only: a pool breaks the queue's forked workers
        options["pool"] = {"min_size": 1, "max_size": DATABASE_POOL, "timeout": 10}
    # Only statements that bind on the server are prepared: those of `database.prepared`, which every turn pays for.
    prepared = env.boolean("MEMORYPROJECT_PREPARED_STATEMENTS", default=True)
    options["prepare_threshold"] = 5 if prepared else None
    if prepared:  # only `database.prepared` has any: each finds its rows by index whatever its values are
        options["options"] = "-c plan_cache_mode=force_generic_plan"
    options |= {name: parts[name] for name in ("requirepeer", "sslmode", "sslrootcert") if name in parts}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.get("dbname", ""),
        "USER": parts.get("user", ""),
        "PASSWORD": parts.get("password", ""),
        "HOST": parts.get("host", ""),
        "PORT": parts.get("port", ""),
        "CONN_MAX_AGE": 0 if DATABASE_POOL else 60,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,  # no transaction may be open while a model is called
        "OPTIONS": options,
    }


DATABASE_URL = env.text("DATABASE_URL")
if PRODUCTION and not DATABASE_URL:
    raise env.BadEnvironment("DATABASE_URL is not set; in production mode it names the PostgreSQL database to use.")
DATABASES = {"default": _database(DATABASE_URL or local.dsn(DATA_DIR))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- people -----------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "accounts.authentication.EmailBackend",
    "guardian.backends.ObjectPermissionBackend",
]
ANONYMOUS_USER_NAME = None  # guardian: nobody has rights without signing in
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "agents"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 1  # hours
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # tries during the pause neither prolong it nor are kept
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # others on the same network are not paused
AXES_CLIENT_IP_CALLABLE = "accounts.rates.address_of"  # behind a proxy not the proxy's, which everybody shares
AXES_USERNAME_FORM_FIELD = "username"
AXES_USERNAME_CALLABLE = "accounts.sign_in.attempted_address"
AXES_HANDLER = "accounts.sign_in.FailedSignIns"
AXES_LOCKOUT_TEMPLATE = "accounts/locked.html"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
PASSWORD_RESET_TIMEOUT = 3 * 60 * 60  # seconds
ORGANIZATION_FOUNDERS = env.choice("MEMORYPROJECT_ORGANIZATION_FOUNDERS", ("operators", "everyone"), "operators")
# Sign-in is by a partly unique e-mail address: a deleted user's address is free again (I01).
SILENCED_SYSTEM_CHECKS = ["auth.W004"]

# --- mail -------------------------------------------------------------------------------------------------------------
EMAIL_HOST_NAME = env.text("MEMORYPROJECT_EMAIL_HOST")
EMAIL_SECURITY = env.choice("MEMORYPROJECT_EMAIL_SECURITY", ("starttls", "tls", "none"), "starttls")
DEFAULT_FROM_EMAIL = env.text("MEMORYPROJECT_EMAIL_FROM") or "memoryproject@localhost"
MAILERS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": EMAIL_HOST_NAME or "localhost",
            "port": env.integer("MEMORYPROJECT_EMAIL_PORT", default=587, minimum=1, maximum=65535),
            "username": env.text("MEMORYPROJECT_EMAIL_USER"),
            "password": env.text("MEMORYPROJECT_EMAIL_PASSWORD"),
            "use_tls": EMAIL_SECURITY == "starttls",
            "use_ssl": EMAIL_SECURITY == "tls",
            "timeout": 10,  # seconds; whoever invites waits for it
        },
    }
}
if not PRODUCTION and not EMAIL_HOST_NAME:  # written into a folder, where a newcomer finds it
    MAILERS["default"] = {
        "BACKEND": "accounts.mail_folder.FolderBackend",
        "OPTIONS": {"file_path": DATA_DIR / "mail"},
    }

# --- web --------------------------------------------------------------------------------------------------------------
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "memoryproject.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
BEHIND_PROXY = PRODUCTION and env.boolean("MEMORYPROJECT_BEHIND_PROXY", default=False)
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CSP = {
    "default-src": ["'self'"],
    "object-src": ["'none'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
    "form-action": ["'self'"],
}
if PRODUCTION:
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = env.integer("MEMORYPROJECT_HSTS_SECONDS", default=31536000, minimum=0, maximum=63072000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    if BEHIND_PROXY:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024  # a resent history is long; what a turn uses is capped by the chat app

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles" if PRODUCTION else None
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not PRODUCTION
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

LANGUAGE_CODE = "en"
# Those that the pages speak, whatever else Django does: German errors and dates in an English page serve nobody, least
# of all a screen reader that is told the page is German.
LANGUAGES = [(code, name) for code, name in global_settings.LANGUAGES if code.partition("-")[0] == "en"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
LOCALE_PATHS = [BASE_DIR / "locale"]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "accounts.authentication.KeyScope"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.authentication.RequestRate"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["chat.openai_format.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "chat.openai_format.OneFormat",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "chat.openai_format.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "memoryproject",
    "DESCRIPTION": "OpenAI's chat-completions protocol for agents that remember.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SCHEMA_PATH_PREFIX": "/v1",
    "POSTPROCESSING_HOOKS": ["chat.shapes.complete"],
}

# Requests a minute (I06); 0 sets no limit.
RATE_KEY = env.integer("MEMORYPROJECT_RATE_KEY", default=300, minimum=0, maximum=1_000_000)
RATE_ORGANIZATION = env.integer("MEMORYPROJECT_RATE_ORGANIZATION", default=3000, minimum=0, maximum=1_000_000)
RATE_FAILED_KEYS = env.integer("MEMORYPROJECT_RATE_FAILED_KEYS", default=60, minimum=0, maximum=1_000_000)

# --- background work --------------------------------------------------------------------------------------------------
QUEUE_WORKERS = env.integer("MEMORYPROJECT_WORKERS", default=2, minimum=1, maximum=64)
QUEUE_TIMEOUT = 300  # seconds; longer than the longest model call with its repair request
Q_CLUSTER = {
    "name": "memoryproject",
    "orm": "default",  # enqueueing commits or rolls back with the turn
    "workers": QUEUE_WORKERS,
    "queue_limit": QUEUE_WORKERS,
    "bulk": 1,
    "timeout": QUEUE_TIMEOUT,
    # The lock time starts when the pusher takes a task, so a waiting one must not run out (it would run twice).
    "retry": QUEUE_TIMEOUT * 2 + 60,
    "max_attempts": 5,
    "ack_failures": True,
    "catch_up": False,
    "save_limit": -1,  # run rows are ours; the queue's own results would only grow
    "poll": 0.2,
    "label": "Queue",
}

# --- memory -----------------------------------------------------------------------------------------------------------
KEYRING_JSON = env.text("MEMORYPROJECT_KEYRING")
KEYRING_FILE = env.path("MEMORYPROJECT_KEYRING_FILE") or (None if PRODUCTION else local.keyring_file(DATA_DIR))
KMS = env.choice("MEMORYPROJECT_KMS", ("keyring", "vault"), "keyring")  # which of the two wraps new keys
VAULT_ADDRESS = env.text("MEMORYPROJECT_VAULT_ADDRESS")
VAULT_KEY = env.text("MEMORYPROJECT_VAULT_KEY")
VAULT_MOUNT = env.text("MEMORYPROJECT_VAULT_MOUNT") or "transit"
VAULT_NAMESPACE = env.text("MEMORYPROJECT_VAULT_NAMESPACE")
VAULT_TOKEN = env.text("MEMORYPROJECT_VAULT_TOKEN")
VAULT_TOKEN_FILE = env.path("MEMORYPROJECT_VAULT_TOKEN_FILE")
VAULT_CA_FILE = env.path("MEMORYPROJECT_VAULT_CA_FILE")
ERASURE_LEDGER = env.path("MEMORYPROJECT_ERASURE_LEDGER") or DATA_DIR / "erasures.jsonl"
ALLOW_PRIVATE_PROVIDERS = env.boolean("MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS", default=False)
AGENT_MEMORY_KILL_SWITCH = env.text("AGENT_MEMORY_KILL_SWITCH")
INSTANCE = env.text("MEMORYPROJECT_INSTANCE")  # by which quickstart knows the web server that it started
EXTRACTION_LEASE_SECONDS = env.integer("MEMORYPROJECT_EXTRACTION_LEASE", default=360, minimum=1, maximum=3600)

# --- logs -------------------------------------------------------------------------------------------------------------
LOGGING = logging_config(env.choice("MEMORYPROJECT_LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR"), "INFO"))
DJANGO_STRUCTLOG_USER_ID_FIELD = "pk"
if not structlog.is_configured():
    from jobs.logging import configure_structlog

    configure_structlog()
