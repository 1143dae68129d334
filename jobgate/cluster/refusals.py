"""What the API server's refusals mean to the rotation of certificates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import ClientError

from certs import Conflict, Refusal, Unavailable
from jobgate.cluster.informer import Refused
from jobgate.cluster.objects import Rejected
from jobgate.cluster.resource import Resource

_UNAUTHORIZED, _FORBIDDEN, _TOO_MANY = 401, 403, 429


@contextmanager
def understood(verb: str, resource: Resource, name: str = "", namespace: str = "") -> Iterator[None]:
    """Turn what a call may fail with into what the rotation knows.

    Args:
        verb: the right that the call needs, as RBAC calls it.
        resource: that is called for.
        name: of the object; empty where all are listed.
        namespace: of the object, if it has one.

    Raises:
        Conflict, Refusal, Unavailable: in the place of `Refused`, `OSError`, `TimeoutError` and aiohttp's errors.
    """
    kind = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    what = f"{kind} {namespace}/{name}".rstrip("/") if namespace else f"{kind} {name}".rstrip()
    try:
        yield
    except Refused as error:
        if isinstance(error, Rejected) and (error.conflict or error.exists):
            raise Conflict(f"{what} has changed") from error
        if error.code == _FORBIDDEN:
            raise Refusal(f"the right to {verb} {what} is missing: grant it to the account of this process") from error
        if error.code == _UNAUTHORIZED:
            raise Refusal(f"the API server does not know the credentials of this process: {verb} {what}") from error
        if error.code == _TOO_MANY or error.code >= 500:
            after = error.after if isinstance(error, Rejected) else None
            raise Unavailable(f"{verb} {what}: {error}", after) from error
        raise Refusal(f"{verb} {what}: {error}") from error
    except (ClientError, OSError, TimeoutError) as error:
        raise Unavailable(f"{verb} {what}: no answer ({type(error).__qualname__})") from error
