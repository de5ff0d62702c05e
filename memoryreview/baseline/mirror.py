"""Copying a baseline to a git remote. The one place where git may leave this machine; nothing is ever forced."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import BaselineError
from .process import run, variables
from .refs import BRANCH

TIMEOUT_S = 120.0
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "file:ssh:https",
    # No prompt may wait for a person who is not there.
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=20",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
}
_FOR_SSH = ("SSH_AUTH_SOCK",)
_FOR_HTTPS = ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
              "SSL_CERT_FILE", "SSL_CERT_DIR")  # fmt: skip
_REMOTE = re.compile(
    r"https://[A-Za-z0-9.-]+(?::\d+)?/[^\s@?#;&=]+"
    r"|ssh://(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9.-]+(?::\d+)?/[^\s@?#;&=]+"
    r"|(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?![/:]{2})[^\s:@?#;&=]+"
)
_SIGN_IN = re.compile(r"https?://[^/]*@|[^/]*:[^@]*@|[^/].*[@?#;&=].*=|[^/]*:.*[?#;&=]", re.IGNORECASE)


def is_remote(target: str) -> bool:
    """Whether a text is an https or ssh address without a password or anything else to sign in with in it."""
    return _REMOTE.fullmatch(target) is not None and "::" not in target


def holds_sign_in(target: str) -> bool:
    """Whether an address, which is no path, has a place where passwords and tokens stand."""
    return _SIGN_IN.match(target) is not None


def push(git_dir: Path, target: str, head: str) -> None:
    """Push one commit to the branch main of a repository, if that goes forward.

    Args: target: an address as `is_remote` knows it, or the absolute path of a repository.
    Raises: BaselineError with a sentence; the remote is as it was, or holds the commit.
    """
    status, stdout, stderr = run(
        git_dir,
        *("push", "--porcelain", "--no-verify", "--no-recurse-submodules", "--", target, f"{head}:{BRANCH}"),
        timeout_s=TIMEOUT_S,
        settings={**_ENVIRONMENT, **_passed_on(target)},
    )
    if status == 0:
        return
    told = f"{stdout.decode('utf-8', 'replace')}\n{stderr}"
    if "[rejected]" in told or "non-fast-forward" in told:
        raise BaselineError(
            f"“{target}” holds a history that this baseline does not continue. Nothing was pushed and nothing is ever "
            "forced; push to an empty repository, or set its branch main right by hand."
        )
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:", "ssh:", "remote:"))]
    reason = lines[0] if lines else (stderr.strip().splitlines() or ["git gave no reason"])[0]
    raise BaselineError(f"The baseline cannot be pushed to “{target}”: {reason}. It is tried again; nothing is lost.")


def _passed_on(target: str) -> dict[str, str]:
    """Return what it takes to reach a target, and nothing for a path: the hooks of that repository would get it."""
    if Path(target).is_absolute():
        return {}
    return variables(*(_FOR_HTTPS if target.startswith("https:") else _FOR_SSH))
