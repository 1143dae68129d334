"""AdmissionReview v1: the request read out of it, and the response written into one.

The contract is that of `admission.k8s.io/v1`: the uid is echoed, a mutating response carries `patch` and `patchType`
together or not at all, a denial is `allowed: false` with a Status that `kubectl` prints cause by cause.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, MsgspecError, Struct, convert, field
from msgspec.structs import replace

from webhook.cause import Cause, Notice
from webhook.context import Operation, User
from webhook.text import line, shown

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"

#: What a request's uid may be, in characters: a UUID, with room for other clients.
UID_LIMIT = 128
#: The API server cuts every warning to 256 runes once all together pass 4,096; within it, ours arrive whole.
WARNINGS_LIMIT = 4096
#: Causes that one denial lists. Nobody reads more.
CAUSES_LIMIT = 200
#: Bytes of JSON that these may take, and that the message repeats of them: with its warnings a response stays below
#: 64 KiB, and so does every event and log line that quotes it.
CAUSES_BYTES = 32 * 1024
MESSAGE_BYTES = 8 * 1024
#: Longest legal name of an object, in characters.
NAME_LIMIT = 253


#: `json.dumps` makes one for each call.
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


class Malformed(Exception):
    """The envelope is not an AdmissionReview v1: the caller's mistake, not the user's. Answered with HTTP 400."""


class Request(Struct, frozen=True):
    """What an AdmissionReview asks about.

    Attributes:
        uid: echoed in the response.
        api_version, kind: of the object, after conversion to the registered version.
        subresource: empty for the object itself.
        name: empty where the API server has yet to generate it.
        document: the object, as JSON; None on DELETE. Whatever the user sent: not necessarily an object.
        old_document: the stored object; None on CREATE.
    """

    uid: str
    api_version: str
    kind: str
    operation: Operation
    name: str = ""
    namespace: str = ""
    subresource: str = ""
    user: User = field(default_factory=User)
    document: Any = None
    old_document: Any = None
    dry_run: bool = False

    @classmethod
    def parse(cls, review: Any) -> Request:
        """Read the request out of an AdmissionReview.

        Raises:
            Malformed: says what of the envelope is wrong.
        """
        try:
            asked = convert(review, _Review).request
        except (MsgspecError, ValueError):  # the second: half a character has no UTF-8
            return cls._explained(review)
        if not asked.uid.isprintable():
            return cls._explained(review)
        return cls(
            asked.uid,
            f"{asked.kind.group}/{asked.kind.version}" if asked.kind.group else asked.kind.version,
            asked.kind.kind,
            asked.operation,
            asked.name,
            asked.namespace,
            asked.subresource,
            asked.user,
            asked.document,
            asked.old_document,
            asked.dry_run,
        )

    @classmethod
    def _explained(cls, review: Any) -> Request:
        """Read what is not written as an API server writes it, or say why it cannot be read."""
        if not isinstance(review, dict):
            raise Malformed(f"the body must be a JSON object, an {KIND}")
        if (review.get("apiVersion"), review.get("kind")) != (API_VERSION, KIND):
            got = f"{shown(review.get('apiVersion'))} {shown(review.get('kind'))}"
            raise Malformed(f"the body must be an {API_VERSION} {KIND}, not {got}")
        request = _object(review, "request")
        if request is None:
            raise Malformed("request is missing")
        kind = _object(request, "kind") or {}
        group, version = _text(kind, "group", "request.kind.group"), _text(kind, "version", "request.kind.version")
        user = _object(request, "userInfo") or {}
        groups = user.get("groups")
        return cls(
            uid=_uid(request),
            api_version=f"{group}/{version}" if group else version,
            kind=_text(kind, "kind", "request.kind.kind"),
            operation=_operation(request),
            name=_text(request, "name"),
            namespace=_text(request, "namespace"),
            subresource=_text(request, "subResource"),
            user=User(
                name=_text(user, "username"),
                groups=tuple(one for one in groups if isinstance(one, str)) if isinstance(groups, list) else (),
            ),
            document=request.get("object"),
            old_document=request.get("oldObject"),
            dry_run=request.get("dryRun") is True,
        )


class _Kind(Struct):
    kind: str
    version: str
    group: str = ""


class _Asked(Struct):
    uid: Annotated[str, Meta(min_length=1, max_length=UID_LIMIT)]
    kind: _Kind
    operation: Operation
    name: str = ""
    namespace: str = ""
    subresource: str = field(name="subResource", default="")
    user: User = field(name="userInfo", default_factory=User)
    document: Any = field(name="object", default=None)
    old_document: Any = field(name="oldObject", default=None)
    dry_run: bool = field(name="dryRun", default=False)


class _Review(Struct):
    """An AdmissionReview as API servers write it: read by msgspec in a fraction of the time."""

    api_version: Literal["admission.k8s.io/v1"] = field(name="apiVersion")
    kind: Literal["AdmissionReview"]
    request: _Asked


class Response(Struct, frozen=True):
    """What is answered.

    Attributes:
        uid: the request's.
        causes: why the object is rejected; empty where it is allowed.
        notices: what is worth a word.
        patch: RFC 6902 operations; only a mutating response may have any.
        subject: what the causes are about, as `(kind, group, name)`.
        rules: by which rule each cause is one, in their order; empty where that is not known.
        later: why the request cannot be answered yet, or empty; the client retries in 1s.
    """

    uid: str
    causes: Sequence[Cause] = ()
    notices: Sequence[Notice] = ()
    patch: Sequence[Mapping[str, Any]] = ()
    subject: tuple[str, str, str] = ("", "", "")
    later: str = ""
    rules: Sequence[str] = ()

    @property
    def allowed(self) -> bool:
        """Whether the object may pass."""
        return not self.causes and not self.later

    @property
    def warnings(self) -> list[str]:
        """The notices as the API server passes them on: single lines, all together within its limit."""
        return _warnings(self.notices)

    def forgiving(self, *, warns: bool) -> Response:
        """Return the answer that lets pass what this one rejects. What is to be asked again later still is: no verdict.

        Args:
            warns: whether the causes become warnings; else they are left to another call.
        """
        end = "(would be denied; warn mode)"
        notices = [Notice(cause.path, f"{cause.message} {end}") for cause in self.causes] if warns else []
        return replace(self, causes=(), rules=(), notices=[*notices, *self.notices])

    def status(self) -> dict[str, Any]:
        """Return the Status of a denial: `Invalid`, with every cause; or a request to retry.

        Clients made with client-go repeat what is answered with 429 and `retryAfterSeconds` by themselves. Any other
        denial counts against the back-off limit of a job whose pod it was.
        """
        kind, group, name = (line(word, NAME_LIMIT) for word in self.subject)
        quoted = json.dumps(self.subject[2][:NAME_LIMIT])
        if self.later and not self.causes:
            return {
                "status": "Failure",
                "code": 429,
                "reason": "TooManyRequests",
                "message": line(self.later),
                "details": {"name": name, "group": group, "kind": kind, "retryAfterSeconds": 1},
            }
        causes = [cause.to_status() for cause in _within(self.causes, CAUSES_BYTES, Cause.to_status)]
        what = f"{kind}.{group}" if group else kind
        return {
            "status": "Failure",
            "code": 422,
            "reason": "Invalid",
            "message": f"{what} {quoted} is invalid: {_sentence(_within(self.causes, MESSAGE_BYTES, str))}",
            "details": {"name": name, "group": group, "kind": kind, "causes": causes},
        }

    def to_review(self) -> dict[str, Any]:
        """Return the AdmissionReview that carries this response."""
        response: dict[str, Any] = {"uid": self.uid, "allowed": self.allowed}
        if not self.allowed:
            response["status"] = self.status()
        elif self.patch:
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(_ENCODER.encode(self.patch).encode()).decode()
        if warnings := self.warnings:
            response["warnings"] = warnings
        return {"apiVersion": API_VERSION, "kind": KIND, "response": response}


def _sentence(causes: Sequence[Cause]) -> str:
    return str(causes[0]) if len(causes) == 1 else "[" + ", ".join(str(cause) for cause in causes) + "]"


def _within(causes: Sequence[Cause], limit: int, written: Callable[[Cause], Any]) -> list[Cause]:
    """Return as many causes as fit into so many bytes of JSON, and one that counts those beyond."""
    kept: list[Cause] = []
    for cause in causes[:CAUSES_LIMIT]:
        limit -= len(json.dumps(written(cause), ensure_ascii=False).encode())
        if limit < 0:
            break
        kept.append(cause)
    left = len(causes) - len(kept)
    return [*kept, Cause("", f"and {left} more causes")] if left else kept


def _warnings(notices: Sequence[Notice]) -> list[str]:
    """Return the texts of the notices, each once, as many as the API server delivers whole."""
    texts = list(dict.fromkeys(map(str, notices)))
    kept: list[str] = []
    room = WARNINGS_LIMIT - 100  # the last line says how many there are beyond
    for text in texts:
        room -= len(text)
        if room < 0:
            kept.append(f"and {len(texts) - len(kept)} more warnings: `jobgate review` shows them all")
            break
        kept.append(text)
    return kept


def _object(parent: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    value = parent.get(key)
    if value is not None and not isinstance(value, dict):
        raise Malformed(f"{key} must be an object")
    return value


def _text(parent: Mapping[str, Any], key: str, path: str = "") -> str:
    value = parent.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed(f"{path or f'request.{key}'} must be a string")
    return value


def _uid(request: Mapping[str, Any]) -> str:
    uid = request.get("uid")
    if not isinstance(uid, str) or not 0 < len(uid) <= UID_LIMIT or not uid.isprintable():
        raise Malformed(f"request.uid must be a text of 1 to {UID_LIMIT} printable characters")
    return uid


def _operation(request: Mapping[str, Any]) -> Operation:
    try:
        return Operation(request.get("operation", ""))
    except ValueError:
        choices = ", ".join(Operation)
        raise Malformed(f"request.operation must be one of {choices}") from None
