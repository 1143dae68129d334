"""AdmissionReview v1: the request read out of it, and the response written into one.

The contract is that of `admission.k8s.io/v1`: the uid is echoed, a mutating response carries `patch` and `patchType`
together or not at all, a denial is `allowed: false` with a Status that `kubectl` prints cause by cause.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, MsgspecError, Struct, convert, field
from msgspec.structs import replace

from webhook.cause import Cause, Notice
from webhook.context import Operation, User
from webhook.text import line

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
        except (MsgspecError, ValueError) as error:  # the second: half a character has no UTF-8
            raise Malformed(line(f"the body must be an {API_VERSION} {KIND}: {error}")) from None
        if not asked.uid.isprintable():
            raise Malformed("request.uid must be printable")
        return cls(
            asked.uid,
            f"{asked.kind.group}/{asked.kind.version}" if asked.kind.group else asked.kind.version,
            asked.kind.kind,
            asked.operation,
            asked.name or "",
            asked.namespace or "",
            asked.subresource or "",
            User(user.name or "", user.groups or ()) if (user := asked.user) else User(),
            asked.document,
            asked.old_document,
            asked.dry_run is True,
        )


class _Kind(Struct):
    kind: str
    version: str
    group: str | None = None


class _User(Struct):
    name: str | None = field(name="username", default=None)
    groups: tuple[str, ...] | None = None


class _Asked(Struct):
    uid: Annotated[str, Meta(min_length=1, max_length=UID_LIMIT)]
    kind: _Kind
    operation: Operation
    name: str | None = None
    namespace: str | None = None
    subresource: str | None = field(name="subResource", default=None)
    user: _User | None = field(name="userInfo", default=None)
    document: Any = field(name="object", default=None)
    old_document: Any = field(name="oldObject", default=None)
    dry_run: bool | None = field(name="dryRun", default=None)


class _Review(Struct):
    """An AdmissionReview. A field that may be absent may be null."""

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
            response["patch"] = base64.b64encode(msgspec.json.encode(self.patch)).decode()
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
