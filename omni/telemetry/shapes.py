"""What secrets look like: token formats in text, and names of fields that hold them."""

from __future__ import annotations

import functools
import re

from omni.telemetry.known_secrets import MASK

# Each is bounded or anchored so that no text makes the search slower than linear.
_TOKENS = re.compile(
    r"""
      -----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY-----
        [\s\S]*?(?:-----END\ [A-Z ]{0,30}PRIVATE\ KEY-----|\Z)
    | (?<![A-Za-z0-9])(?:
        omni_(?=[a-z_-]{0,31}[A-Z0-9])[A-Za-z0-9_-]{24,}   # ours; names in code have no capitals
      | sk-[A-Za-z0-9_-]{16,}                              # OpenAI, Anthropic (sk-ant-) and alike
      | [sr]k_(?:live|test)_[A-Za-z0-9]{16,}
      | xai-[A-Za-z0-9_-]{20,}
      | gsk_[A-Za-z0-9]{20,}
      | gh[pousr]_[A-Za-z0-9]{20,}
      | github_pat_[A-Za-z0-9_]{20,}
      | glpat-[A-Za-z0-9_-]{16,}
      | hf_[A-Za-z0-9]{20,}
      | npm_[A-Za-z0-9]{30,}
      | pypi-[A-Za-z0-9_-]{40,}
      | AIza[A-Za-z0-9_-]{30,}
      | (?:AKIA|ASIA)[A-Z0-9]{16}
      | xox[a-z]-[A-Za-z0-9-]{10,}
      )
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?   # JWT
    """,
    re.VERBOSE,
)

_NAME = (
    r"(?:password|passwd|passphrase|secret|secret[_-]?key|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|csrfmiddlewaretoken|sessionid|credentials?"
    r"|(?<!next_)(?<!page_)(?<!eos_)(?<!pad_)(?<!stop_)token)[0-9]?"
)
_QUOTED = r'(?:"(?:[^"\\\n]|\\.)*+"|\'(?:[^\'\\\n]|\\.)*+\')'
# In JSON inside JSON the quotes themselves are escaped.
_ESCAPED = r'\\"(?:[^"\\\n]|\\\\[^"])*+\\"'
_BARE = r"[^\s,;&\"'<>(){}\\]+"

# Each alternative has one group, the part that stays; what follows it is replaced.
_AFTER = re.compile(
    rf"""
      (\b(?i:authorization|proxy-authorization|set-cookie|cookie|x-api-key)["']?[:=]\s*["']?)
          [^\s"'][^"'\r\n]*
    | (\b(?i:bearer|basic)\s+)(?=[\w+/=.~-]*(?:[0-9=+/]|[a-z][A-Z]))[\w+/=.~-]{{8,}}
    | ([A-Za-z][A-Za-z0-9+.-]{{0,30}}://[^\s:/@"']{{0,200}}:)[^\s/"']{{1,400}}(?=@)
    | ((?i:{_NAME})["']\s*:\s*)(?:{_QUOTED}|-?[0-9]+)
    | ((?i:{_NAME})\\"\s*:\s*){_ESCAPED}
    | ((?i:{_NAME})\s*[=:]\s*){_QUOTED}
    | ((?i:{_NAME})=){_BARE}
    | (^[ \t]*[\w.-]{{0,40}}(?i:{_NAME}):[ \t]*)\S+(?=[ \t]*$)
    """,
    re.VERBOSE | re.MULTILINE,
)

_SENSITIVE = re.compile(
    r"""(?:^|_)(?:
        [a-z]*(?:passwords?|passwd|passphrase|secret)|pwd|authorization|cookies?
      | api_?key|access_?key|secret_?key|private_?key|signing_?key|encryption_?key|session_?key
      | credentials?|csrf_?token|csrfmiddlewaretoken|session_?id
      | (?:access|auth|bearer|id|refresh)token
      | (?<!next_)(?<!page_)(?<!eos_)(?<!bos_)(?<!pad_)(?<!stop_)(?<!continuation_)token
      )(?:_value|_hash|_plaintext|_pem)?[0-9]*$
    """,
    re.VERBOSE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_SHORTEST = len("token=x")
# Nearly all text has none of these, and looking for them costs a fraction of the patterns.
_TOKEN_HINTS = (
    "omni_", "sk-", "k_live_", "k_test_", "xai-", "gsk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    "github_pat_", "glpat-", "hf_", "npm_", "pypi-", "AIza", "AKIA", "ASIA", "xox", "eyJ",
    "PRIVATE KEY",
)  # fmt: skip
_AFTER_HINTS = (
    "passw", "passphrase", "secret", "token", "key", "authorization", "cookie", "bearer", "basic",
    "://", "sessionid", "credential",
)  # fmt: skip


def _has_any(hints: tuple[str, ...], text: str) -> bool:
    """A plain loop: every event and log line passes here, and `any` takes twice as long."""
    for hint in hints:  # noqa: SIM110
        if hint in text:
            return True
    return False


def mask_shapes(text: str) -> str:
    """The text without anything that looks like a credential."""
    if len(text) < _SHORTEST:
        return text
    if _has_any(_TOKEN_HINTS, text):
        text = _TOKENS.sub(MASK, text)
    lowered = text.lower()
    if _has_any(_AFTER_HINTS, lowered):
        text = _AFTER.sub(lambda found: f"{found[found.lastindex or 0]}{MASK}", text)
    return text


@functools.lru_cache(maxsize=4096)
def is_sensitive(name: str) -> bool:
    """Whether a field of this name holds a secret: `api_key` does, `token_count` does not."""
    return bool(_SENSITIVE.search(_CAMEL.sub("_", name[:100]).replace("-", "_").lower()))
