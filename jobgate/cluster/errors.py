"""Errors of requests, as errors of the certificate rotation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import ClientError

from certs import Conflict, Refusal, Unavailable
from jobgate.cluster.informer import ApiError
from jobgate.cluster.resource import Resource

_UNAUTHORIZED, _FORBIDDEN, _TOO_MANY = 401, 403, 429


@contextmanager
def translated_errors(verb: str, resource: Resource, name: str = "", namespace: str = "") -> Iterator[None]:
    """Translate errors of a request, with this RBAC verb, to `Conflict`, `Refusal` and `Unavailable`."""
    kind = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    what = f"{kind} {namespace}/{name}".rstrip("/") if namespace else f"{kind} {name}".rstrip()
    try:
        yield
    except ApiError as error:
        if error.conflict or error.exists:
            raise Conflict(f"{what} has changed") from error
        if error.code == _FORBIDDEN:
            raise Refusal(f"cannot {verb} {what}: forbidden: grant the permission to this account") from error
        if error.code == _UNAUTHORIZED:
            raise Refusal(f"cannot {verb} {what}: unauthorized: the credentials are invalid") from error
        if error.code == _TOO_MANY or error.code >= 500:
            raise Unavailable(f"cannot {verb} {what}: {error}", error.after) from error
        raise Refusal(f"cannot {verb} {what}: {error}") from error
    except (ClientError, OSError, TimeoutError) as error:
        raise Unavailable(f"cannot {verb} {what}: no response ({type(error).__qualname__})") from error
