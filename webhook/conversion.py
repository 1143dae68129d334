"""ConversionReview v1: reads requests, converts their objects, and writes responses.

By `apiextensions.k8s.io/v1`, a response has all objects, in the order of the request, or a failure with a message. Then
the API server can neither read nor write any of them, so the message names each object that cannot be converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from webhook.admission import UID_LIMIT, read_request
from webhook.context import never
from webhook.kind import Kind, Registry
from webhook.text import first_of, line, short
from webhook.values import mapping, metadata_of
from webhook.version import NotConvertible

API_VERSION: Final = "apiextensions.k8s.io/v1"
KIND: Final = "ConversionReview"
#: The path of conversions. The API server sends objects of all kinds to it.
CONVERSION_PATH: Final = "/convert"
#: Objects that cannot be converted, of which a message tells the reason.
_LISTED: Final = 10


class ConversionRequest(Struct, frozen=True):
    """The request of a ConversionReview.

    Attributes:
        uid: the identifier that the response repeats.
        api_version: the wanted version of the objects, with its group.
        objects: the objects, of any versions of one group.
    """

    uid: Annotated[str, Meta(min_length=1, max_length=UID_LIMIT)]
    api_version: str = field(name="desiredAPIVersion")
    objects: list[dict[str, Any]]

    @classmethod
    def parse(cls, review: Any) -> ConversionRequest:
        """Read the request of a ConversionReview.

        Raises:
            Malformed: it is not a ConversionReview v1; the message says why.
        """
        request: ConversionRequest = read_request(review, _Review, f"{API_VERSION} {KIND}")
        return request


class _Review(Struct):
    api_version: Literal["apiextensions.k8s.io/v1"] = field(name="apiVersion")
    kind: Literal["ConversionReview"]
    request: ConversionRequest


class Conversion(Struct, frozen=True):
    """The response to a request.

    Attributes:
        uid: the uid of the request.
        objects: the converted objects; they count only if there are no faults.
        faults: why objects cannot be converted, a sentence for each.
        errors: the exceptions that conversions raised by mistake, for the log.
    """

    uid: str
    objects: Sequence[dict[str, Any]] = ()
    faults: Sequence[str] = ()
    errors: Sequence[Exception] = ()

    def to_review(self) -> dict[str, Any]:
        """Return the ConversionReview with this response."""
        response: dict[str, Any] = {"uid": self.uid}
        if self.faults:
            response["result"] = {"status": "Failure", "message": line("; ".join(_most(self.faults)), 8 * 1024)}
        else:
            response |= {"convertedObjects": self.objects, "result": {"status": "Success"}}
        return {"apiVersion": API_VERSION, "kind": KIND, "response": response}


def _most(faults: Sequence[str]) -> Sequence[str]:
    left = len(faults) - _LISTED
    return [*faults[:_LISTED], f"and {left} more objects"] if left > 0 else faults


def convert_objects(
    request: ConversionRequest, kinds: Registry[Any], *, spent: Callable[[], bool] = never
) -> Conversion:
    """Return the objects of a request in the wanted version.

    Args:
        request: the request of the API server.
        kinds: the kinds that are served.
        spent: tells whether the time for the conversion is over.
    """
    group, _, version = request.api_version.rpartition("/")
    by_name = {kind.kind: kind for kind in kinds.of_group(group) if kind.versions}
    objects, faults, errors = [], [], []
    for document in request.objects:
        if spent():
            faults.append(f"it takes too long to convert {len(request.objects)} objects: request fewer at once")
            break
        try:
            objects.append(_kind_of(document, group, by_name).convert(document, version))
        except NotConvertible as error:
            faults.append(f"{_name(document)}: {line(str(error))}")
        except Exception as error:  # noqa: BLE001  # a function of a kind may raise anything
            # The others are converted, too: the message is to name all that stop a list from being read.
            faults.append(f"{_name(document)}: its conversion failed; the log of the webhook says why")
            errors.append(error)
    return Conversion(request.uid, objects, faults, errors)


def _kind_of(document: Mapping[str, Any], group: str, kinds: Mapping[str, Kind]) -> Kind:
    name, written = document.get("kind"), document.get("apiVersion")
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        known = f"those of {group} are {first_of([*kinds], 10)}" if kinds else f"{group} has none"
        raise NotConvertible(f"it is not of a kind with several versions; {known}")
    if not isinstance(written, str) or written.rpartition("/")[0] != group:
        raise NotConvertible(f"its apiVersion is not of {group}")
    return kind


def _name(document: Mapping[str, Any]) -> str:
    metadata = metadata_of(mapping(document))
    names = [str(metadata[key]) for key in ("namespace", "name") if isinstance(metadata.get(key), str)]
    return f"{short(str(document.get('kind')))} {short('/'.join(names)) or 'without a name'}"
