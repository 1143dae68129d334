"""AdmissionReview v1: reads requests, and writes responses.

By `admission.k8s.io/v1`, a response repeats the uid, and has both or neither of `patch` and `patchType`. A denial
is `allowed: false` with a Status; `kubectl` prints each of its causes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, MsgspecError, Struct, convert, field
from msgspec.structs import replace

from webhook.cause import Cause, Finding, Notice
from webhook.context import Operation, User
from webhook.text import line

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"

#: Longest uid of a request, in characters: a UUID, with room for other clients.
UID_LIMIT = 128
#: Most characters of all warnings together. Beyond it, the API server cuts each warning to 256 runes.
WARNINGS_LIMIT = 4096
#: Most causes that a denial lists. Nobody reads more.
CAUSES_LIMIT = 200
#: Most bytes of JSON of these causes, and of the message that repeats them. So a response with its warnings stays below
#: 64 KiB, and so does each event and log line that quotes it.
CAUSES_BYTES = 32 * 1024
MESSAGE_BYTES = 8 * 1024
#: Longest legal name of an object, in characters.
NAME_LIMIT = 253


class Malformed(Exception):
    """The body is not an AdmissionReview v1: a mistake of the caller, not of the user. Answered with HTTP 400."""


def read_request(review: Any, envelope: type[Struct], name: str) -> Any:
    """Return the request of a review by the API server.

    Args:
        review: the JSON of the review.
        envelope: the type of the review, with a `request` that has a `uid`.
        name: its apiVersion and kind, for the message.

    Raises:
        Malformed: it is not such a review; the message says why.
    """
    try:
        request = convert(review, envelope).request  # type: ignore[attr-defined]
    except (MsgspecError, ValueError) as error:  # ValueError: half a surrogate pair has no UTF-8
        raise Malformed(line(f"the body must be an {name}: {error}")) from None
    if not request.uid.isprintable():
        raise Malformed("request.uid must be printable")
    return request


class Request(Struct, frozen=True):
    """The request of an AdmissionReview.

    Attributes:
        uid: the identifier that the response repeats.
        api_version, kind: of the object, after conversion to the registered version.
        operation: the operation.
        name: the name of the object; empty until the API server has generated it.
        namespace: the namespace of the object.
        subresource: empty for the object itself.
        user: the user of the request.
        document: the object, as JSON; None on DELETE. A user can send any JSON.
        old_document: the stored object; None on CREATE.
        dry_run: whether nothing will be stored.
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
        """Read the request of an AdmissionReview.

        Raises:
            Malformed: it is not an AdmissionReview v1; the message says why.
        """
        request: _Request = read_request(review, _Review, f"{API_VERSION} {KIND}")
        return cls(
            request.uid,
            f"{request.kind.group}/{request.kind.version}" if request.kind.group else request.kind.version,
            request.kind.kind,
            request.operation,
            request.name or "",
            request.namespace or "",
            request.subresource or "",
            User(user.name or "", user.groups or ()) if (user := request.user) else User(),
            request.document,
            request.old_document,
            request.dry_run is True,
        )


class _Kind(Struct):
    kind: str
    version: str
    group: str | None = None


class _User(Struct):
    name: str | None = field(name="username", default=None)
    groups: tuple[str, ...] | None = None


class _Request(Struct):
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
    """An AdmissionReview. Optional fields may be null."""

    api_version: Literal["admission.k8s.io/v1"] = field(name="apiVersion")
    kind: Literal["AdmissionReview"]
    request: _Request


class Response(Struct, frozen=True):
    """The response to a request.

    Attributes:
        uid: the uid of the request.
        findings: why the object is denied, and warnings, each with the name of its rule.
        patch: RFC 6902 operations, in mutating responses only.
        subject: the object of the causes, as `(kind, group, name)`.
        later: why the request cannot be answered yet, or empty. The client retries in 1s.
    """

    uid: str
    findings: Sequence[Finding] = ()
    patch: Sequence[Mapping[str, Any]] = ()
    subject: tuple[str, str, str] = ("", "", "")
    later: str = ""

    @property
    def causes(self) -> list[Cause]:
        """Why the object is denied; empty if it is allowed."""
        return [finding for _, finding in self.findings if isinstance(finding, Cause)]

    @property
    def notices(self) -> list[Notice]:
        """The warnings."""
        return [finding for _, finding in self.findings if not isinstance(finding, Cause)]

    @property
    def allowed(self) -> bool:
        """Whether the object is allowed."""
        return not self.causes and not self.later

    def reporting(self, *findings: Notice) -> Response:
        """Return the response with further findings, of no rule."""
        return replace(self, findings=[*self.findings, *(("", finding) for finding in findings)])

    @property
    def warnings(self) -> list[str]:
        """The warnings as the API server passes them on: single lines, together within its limit."""
        return _warnings(self.notices, "")

    def forgiving(self, *, warns: bool) -> Response:
        """Return the response of warn mode, which denies nothing. A request to retry later stays one.

        Args:
            warns: whether the causes become warnings. Otherwise the other call reports them.
        """
        end = "(would be denied; warn mode)"
        notices = [(rule, finding) for rule, finding in self.findings if not isinstance(finding, Cause)]
        if warns:
            causes = [(rule, finding) for rule, finding in self.findings if isinstance(finding, Cause)]
            notices[:0] = [(rule, Notice(cause.path, f"{cause.message} {end}")) for rule, cause in causes]
        return replace(self, findings=notices)

    def status(self) -> dict[str, Any]:
        """Return the Status of a denial: `Invalid`, with every cause; or a request to retry.

        Clients made with client-go retry a response with 429 and `retryAfterSeconds` by themselves. Any other denial of
        a pod counts against the back-off limit of its Job.
        """
        kind, group, name = (line(part, NAME_LIMIT) for part in self.subject)
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

    def encoded_patch(self) -> bytes:
        """Return the JSON of the patch; empty if there is none."""
        return msgspec.json.encode(self.patch) if self.patch else b""

    def to_review(self, hint: str = "") -> dict[str, Any]:
        """Return the AdmissionReview of this response.

        Args:
            hint: the end of the line that counts the warnings beyond the limit, such as a command that shows them.
        """
        response: dict[str, Any] = {"uid": self.uid, "allowed": self.allowed}
        if not self.allowed:
            response["status"] = self.status()
        elif self.patch:
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(self.encoded_patch()).decode()
        if warnings := _warnings(self.notices, hint):
            response["warnings"] = warnings
        return {"apiVersion": API_VERSION, "kind": KIND, "response": response}


def _sentence(causes: Sequence[Cause]) -> str:
    return str(causes[0]) if len(causes) == 1 else "[" + ", ".join(str(cause) for cause in causes) + "]"


def _within(causes: Sequence[Cause], limit: int, to_json: Callable[[Cause], Any]) -> list[Cause]:
    """Return as many causes as fit into a number of bytes of JSON, and a last one that counts the others."""
    kept: list[Cause] = []
    for cause in causes[:CAUSES_LIMIT]:
        limit -= len(json.dumps(to_json(cause), ensure_ascii=False).encode())
        if limit < 0:
            break
        kept.append(cause)
    left = len(causes) - len(kept)
    return [*kept, Cause("", f"and {left} more causes")] if left else kept


def _warnings(notices: Sequence[Notice], hint: str) -> list[str]:
    """Return the texts of the notices without duplicates, as many as the API server does not cut."""
    texts = list(dict.fromkeys(map(str, notices)))
    kept: list[str] = []
    room = WARNINGS_LIMIT - 100  # for the last line, which counts the others
    for text in texts:
        room -= len(text)
        if room < 0:
            more = f"and {len(texts) - len(kept)} more warnings"
            kept.append(f"{more}: {hint}" if hint else more)
            break
        kept.append(text)
    return kept
