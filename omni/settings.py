"""Django's settings; every value that an operator may change comes from `omni.config`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from omni import __version__, config, keyring
from omni.contracts.errors import ConfigError
from omni.edge import csp
from omni.engine.lifecycle import Status as RunStatus
from omni.telemetry.logs import logging_config

CONFIG = config.current()
BASE_DIR = config.ROOT


def _database(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured("OMNI_DATABASE_URL must start with postgresql://.")
    options: dict[str, Any] = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    options.setdefault("connect_timeout", 5)
    options.setdefault("application_name", f"omni-{CONFIG.process}")
    if CONFIG.process == "web":
        # Threads come and go under ASGI; forked workers must not share a pool, so only web has one.
        options["pool"] = {"min_size": 1, "max_size": 20, "timeout": 5}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_HEALTH_CHECKS": True,
        "CONN_MAX_AGE": 0 if "pool" in options else 60,
        "OPTIONS": options,
    }


def _artifact_store(where: str) -> dict[str, Any]:
    if where == "disk":
        options: dict[str, Any] = {
            "location": CONFIG.home / "artifacts",
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        }
        return {"BACKEND": "apps.runs.storage.disk.ArtifactFiles", "OPTIONS": options}
    options = {
        "bucket_name": CONFIG.artifact_bucket,
        "location": CONFIG.artifact_prefix,
        "endpoint_url": CONFIG.artifact_endpoint or None,
        "region_name": CONFIG.artifact_region,
        "access_key": CONFIG.artifact_access_key or None,
        "secret_key": CONFIG.artifact_secret_key or None,
        "path_style": CONFIG.artifact_path_style,
    }
    return {"BACKEND": "apps.runs.storage.objects.ArtifactObjects", "OPTIONS": options}


try:
    DATABASES = {"default": _database(CONFIG.resolved_database_url())}
    REDIS_URL = CONFIG.resolved_redis_url()
    BROKER_URL = CONFIG.resolved_broker_url()
    SECRET_KEY = keyring.django_secret(CONFIG)
except ConfigError as error:
    raise ImproperlyConfigured(str(error)) from None

DEBUG = CONFIG.debug
_public = urlsplit(CONFIG.base_url)
ALLOWED_HOSTS = sorted({*config.LOOPBACK, "[::1]", _public.hostname or "", *CONFIG.allowed_hosts})
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]
ROOT_URLCONF = "omni.urls"
ASGI_APPLICATION = "omni.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APPEND_SLASH = True

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "omni.workspace.admin_app.OmniAdminConfig",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",
    "guardian",
    "django_htmx",
    "corsheaders",
    "csp",
    "axes",
    "apps.registry",
    "apps.memory",
    "apps.tools",
    "apps.runs",
    "apps.marketplace",
    "omni.workspace",
    # After ours, whose `changepassword` is found first: Django's own writes no audit entry.
    "django.contrib.auth",
]

MIDDLEWARE = [
    "omni.edge.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "csp.middleware.CSPMiddleware",
    "omni.workspace.middleware.PaneMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "omni.edge.middleware.PersonMiddleware",
]

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
                "omni.workspace.context.shell",
            ]
        },
    }
]

# --- people -----------------------------------------------------------------------------------
AUTH_USER_MODEL = "registry.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
_VALIDATION = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {
        "NAME": f"{_VALIDATION}.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email", "name")},
    },
    {"NAME": f"{_VALIDATION}.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": f"{_VALIDATION}.CommonPasswordValidator"},
    {"NAME": f"{_VALIDATION}.NumericPasswordValidator"},
]
LOGIN_URL = "registry:login"
LOGIN_REDIRECT_URL = "workspace:home"
LOGOUT_REDIRECT_URL = "registry:login"
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600
ANONYMOUS_USER_NAME = None
GUARDIAN_RAISE_403 = False
AXES_FAILURE_LIMIT = CONFIG.login_attempts
AXES_COOLOFF_TIME = timedelta(minutes=CONFIG.login_cooldown_minutes)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_HTTP_RESPONSE_CODE = 429
AXES_USERNAME_CALLABLE = "apps.registry.lockout.login_name"
AXES_LOCKOUT_CALLABLE = "apps.registry.lockout.lockout_response"
AXES_CLIENT_IP_CALLABLE = "omni.edge.client.client_ip"
AXES_SENSITIVE_PARAMETERS = ["username", "csrfmiddlewaretoken", "next"]
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_VERBOSE = False

SESSION_ENGINE = "apps.registry.sessions"
SESSION_COOKIE_NAME = "omni_session"
SESSION_COOKIE_AGE = CONFIG.session_hours * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "omni_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "omni.edge.errors.csrf_failure"

# --- transport --------------------------------------------------------------------------------
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = CONFIG.is_https
SECURE_SSL_REDIRECT = CONFIG.is_https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if CONFIG.is_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = CONFIG.is_https
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if CONFIG.trusted_proxies else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CORS_ALLOWED_ORIGINS = list(CONFIG.cors_origins)
CORS_URLS_REGEX = r"^/api/.*$"
DATA_UPLOAD_MAX_MEMORY_SIZE = CONFIG.max_request_bytes
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 50
CONTENT_SECURITY_POLICY = csp.CONTENT_SECURITY_POLICY

# --- cache, tasks, mail -----------------------------------------------------------------------
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "omni",
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
    }
}
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"visibility_timeout": 12 * 3600, "socket_connect_timeout": 5}
    if BROKER_URL.startswith("redis")
    else {}
)
CELERY_TASK_IGNORE_RESULT = True
# No results are kept, so beat needs no schedule of Celery's own to clean them up.
CELERY_RESULT_EXPIRES = None
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "omni"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = CONFIG.worker_concurrency
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BEAT_SCHEDULER = "apps.runs.beat.Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = CONFIG.heartbeat_seconds
CELERY_BEAT_SCHEDULE = {
    "omni-sweep": {
        "task": "apps.runs.tasks.sweep",
        "schedule": timedelta(seconds=CONFIG.sweep_seconds),
        "options": {"expires": CONFIG.sweep_seconds * 2},
    },
    "omni-check-mcp-servers": {
        "task": "apps.tools.tasks.check_mcp_servers",
        "schedule": timedelta(seconds=10),
        "options": {"expires": 20},
    },
    "omni-clean-up": {"task": "apps.runs.tasks.clean_up", "schedule": timedelta(hours=1)},
}
CELERY_TIMEZONE = "UTC"

_mail = urlsplit(CONFIG.email_url)
EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if CONFIG.email_url
    else "django.core.mail.backends.dummy.EmailBackend"
)
EMAIL_HOST = _mail.hostname or ""
EMAIL_PORT = _mail.port or (465 if _mail.scheme == "smtps" else 25)
EMAIL_HOST_USER = unquote(_mail.username or "")
EMAIL_HOST_PASSWORD = unquote(_mail.password or "")
EMAIL_USE_TLS = parse_qs(_mail.query).get("tls") == ["1"]
EMAIL_USE_SSL = _mail.scheme == "smtps"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = CONFIG.email_from

# --- language, time, files, logs --------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = False
FORMAT_MODULE_PATH = "omni.workspace.formats"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = CONFIG.home / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "artifacts": _artifact_store(CONFIG.artifact_store),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
LOGGING_CONFIG = "omni.telemetry.logs.apply"
LOGGING = logging_config(CONFIG)

# --- API --------------------------------------------------------------------------------------
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.registry.api.authentication.TokenAuthentication",
        "apps.registry.api.authentication.BrowserAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.registry.api.permissions.SignedInWithScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.registry.api.parsing.StrictJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "apps.registry.api.pagination.Pages",
    "DEFAULT_THROTTLE_CLASSES": ["apps.registry.api.throttling.RequestRate"],
    "DEFAULT_THROTTLE_RATES": {"anon": CONFIG.rate_anon, "user": CONFIG.rate_user},
    "NUM_PROXIES": CONFIG.trusted_proxies,
    "DEFAULT_SCHEMA_CLASS": "apps.registry.api.schema.OmniSchema",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_VERSIONING_CLASS": None,
    "EXCEPTION_HANDLER": "apps.registry.api.problems.exception_handler",
    "NON_FIELD_ERRORS_KEY": "",
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Omni API",
    "DESCRIPTION": "Everything the workspace does, for programs. Failures are problem documents "
    "(RFC 9457); lists are pages by cursor; a POST with an Idempotency-Key may be repeated.",
    "VERSION": __version__,
    "OAS_VERSION": "3.1.0",
    "LICENSE": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    "SERVERS": [{"url": "/", "description": "This installation."}],
    "TAGS": [
        {"name": "me", "description": "The person behind the credential."},
        {"name": "projects", "description": "Spaces with members; visible to them only."},
        {"name": "members", "description": "Who holds which roles in a project."},
        {"name": "secrets", "description": "Values kept encrypted, set by name, never read."},
        {"name": "tools", "description": "What projects can call: manifests, versions and pins."},
        {"name": "policies", "description": "What is allowed, asked and denied, and why."},
        {"name": "mcp", "description": "MCP servers of a project and what they offer."},
        {"name": "openapi", "description": "OpenAPI documents, whose operations become tools."},
        {"name": "tokens", "description": "API tokens of the person who asks."},
        {"name": "audit", "description": "Who did what, and what was refused."},
        {"name": "people", "description": "Accounts, kept by operators."},
        {"name": "roles", "description": "What a member may do."},
        {"name": "threads", "description": "Lines of work within a project; runs belong to them."},
        {"name": "runs", "description": "Executions, each with its own log of events."},
        {"name": "artifacts", "description": "Files of runs, named by the hash of their content."},
        {"name": "approvals", "description": "Questions of runs that people answer."},
        {"name": "workers", "description": "Processes that execute work."},
        {"name": "schemas", "description": "The contracts: JSON Schemas of every document."},
    ],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "AuditAction": "apps.registry.models.AuditAction",
        "PermissionName": "apps.registry.roles.Permission",
        "RoleName": "apps.registry.roles.Role",
        "Scope": "apps.registry.models.Scope",
        "McpEntryKind": "apps.tools.models.McpEntry.Kind",
        "McpEntryState": "apps.tools.models.McpEntry.State",
        "McpServerStatus": "apps.tools.models.McpServer.Status",
        "McpTransport": "apps.tools.models.McpServer.Transport",
        "ApprovalState": "apps.runs.models.Approval.State",
        "ToolOrigin": "apps.tools.models.ToolOrigin",
        "RunStatus": [each.value for each in RunStatus],
        "WorkerKind": "apps.runs.models.Worker.Kind",
        "WorkerState": "apps.runs.models.Worker.State",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.registry.api.schema.complete",
    ],
    "SCHEMA_PATH_PREFIX": "/api",
    "SERVE_INCLUDE_SCHEMA": False,
}

# --- admin console ----------------------------------------------------------------------------
# The same accent and greys as the workspace's tokens.css; names refer to functions that answer
# per request.
_ADMIN = "omni.workspace.admin_site"
UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Omni admin",
    "SITE_HEADER": "Omni",
    "SITE_SUBHEADER": "Admin console",
    "SITE_URL": "/",
    "SITE_ICON": f"{_ADMIN}.mark",
    "SITE_SYMBOL": "hub",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": f"{_ADMIN}.mark"}],
    "SITE_DROPDOWN": f"{_ADMIN}.site_menu",
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "BORDER_RADIUS": "8px",
    "THEME": f"{_ADMIN}.theme",
    "ENVIRONMENT": f"{_ADMIN}.environment",
    "DASHBOARD_CALLBACK": f"{_ADMIN}.front_page",
    "STYLES": [f"{_ADMIN}.stylesheet"],
    "ACCOUNT": {"navigation": f"{_ADMIN}.account_links"},
    "COMMAND": {"search_models": False, "show_history": False},
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "show_all_applications": False,
        "navigation": "omni.workspace.admin_navigation.sidebar",
    },
    "COLORS": {
        "base": {
            "50": "#f7f7f9",
            "100": "#f2f2f5",
            "200": "#e6e6eb",
            "300": "#d3d3db",
            "400": "#9898a6",
            "500": "#686874",
            "600": "#4d4d58",
            "700": "#383842",
            "800": "#27272e",
            "900": "#17171b",
            "950": "#0f0f12",
        },
        "primary": {
            "50": "#f5f5fd",
            "100": "#eeeefb",
            "200": "#dddcf8",
            "300": "#c9c7f3",
            "400": "#a19eff",
            "500": "#7c79ec",
            "600": "#5450c8",
            "700": "#4541b3",
            "800": "#393691",
            "900": "#302e75",
            "950": "#1d1b47",
        },
    },
}
