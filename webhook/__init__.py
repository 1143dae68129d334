"""Admission: the types that a kind of object is written with, and the review.

- `kind`: a kind (`Kind`), and the kinds that are served (`Registry`)
- `schema`: what the API server accepts of a kind's objects (`Schema`); `ModelSchema` follows a Pydantic model
- `object`: an object under review, for rules; `view`: the typed view of its spec
- `rule`: a rule of validation; `when`: which rules are called for an object
- `draft`: the object during defaulting, which records its own patch; `restore`: restores fields that a writer erased
- `context`: what defaults and rules may read beside the object
- `cause`: faults (`Cause` and its subclasses) and warnings (`Notice`)
- `path`: the path of a field, exact, and printed as Kubernetes prints it; `text`: texts, escaped and limited in length
- `review`: the pure function from a request to a response; `explain`: the faults of an invalid object; `ratchet`: which
  faults an updated object had already
- `admission`: AdmissionReview v1 in and out
- `version`: converts objects between the versions of a kind; `conversion`: ConversionReview v1 in and out
- `redaction`: masks secret values in objects, patches and messages
- `trace`: W3C trace context
- `server`: the TLS server that answers the API server; only it needs aiohttp
"""

from webhook.admission import Malformed, Request, Response
from webhook.cause import (
    Cause,
    Duplicate,
    Forbidden,
    Invalid,
    NotFound,
    Notice,
    NotSupported,
    Required,
    TooLong,
    TooMany,
    TypeInvalid,
)
from webhook.context import Access, Context, NoObjects, NotInstalled, Objects, Operation, Settings, UnknownObjects, User
from webhook.draft import Draft
from webhook.kind import ConvertedObject, Default, GroupVersionKind, Kind, Registry, UnknownField
from webhook.object import Object
from webhook.path import Path
from webhook.review import Phase, review
from webhook.rule import Rule, rule
from webhook.schema import ModelSchema, Schema
from webhook.version import NotConvertible, OtherVersion

__all__ = [
    "Access",
    "Cause",
    "Context",
    "ConvertedObject",
    "Default",
    "Draft",
    "Duplicate",
    "Forbidden",
    "GroupVersionKind",
    "Invalid",
    "Kind",
    "Malformed",
    "ModelSchema",
    "NoObjects",
    "NotConvertible",
    "NotFound",
    "NotInstalled",
    "NotSupported",
    "Notice",
    "Object",
    "Objects",
    "Operation",
    "OtherVersion",
    "Path",
    "Phase",
    "Registry",
    "Request",
    "Required",
    "Response",
    "Rule",
    "Schema",
    "Settings",
    "TooLong",
    "TooMany",
    "TypeInvalid",
    "UnknownField",
    "UnknownObjects",
    "User",
    "review",
    "rule",
]
