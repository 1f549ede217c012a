"""The errors of the client."""

from __future__ import annotations


class Refused(Exception):
    """A request that the server refused. `code` is one of the kernel's error codes, such as `busy`."""

    def __init__(self, code: str, message: str, details: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.details = details


class PeerGone(Exception):
    """The server is gone. Everything that still waits for it fails with this."""

    def __init__(self, why: str, *, exit_code: int | None = None, stderr: str = "") -> None:
        super().__init__(why if stderr == "" else f"{why}\n{stderr.rstrip()}")
        self.exit_code = exit_code
        self.stderr = stderr
