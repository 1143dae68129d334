"""Admission: the types that a kind of job is written with, and the review.

- `kind`: what a kind of job is (`Kind`, `Registry`), and what it is made with (`Schema`, `OperatorProfile`)
- `job`, `task`: a job under review, and the neutral view of a part of it
- `rule`: what validation checks: a name, what it reads, a check; `plan`: when each rule of a kind is called;
  `quiet`: rules that are not called for a valid job
- `draft`: the object being defaulted, which records its own patch; `restore`: what a forgetful writer erased
- `trace`: W3C trace context
- `text`: every text of a finding, bounded and escaped
- `path`: the place of a field, exact, and printed as Kubernetes prints it
- `cause`: what is wrong (`Cause` and its kinds), and warnings (`Notice`)
- `values`: reads and compares JSON of any shape, and says what differs
- `view`: the typed view of JSON, whole or of what fits; `readable`
- `context`: what a default or a rule may know beside the object
- `ratchet`: what makes a fault the same before and after an UPDATE
- `review`: the pure function from a request to a response
- `admission`: AdmissionReview v1 in and out
- `server`: the TLS server that answers the API server; it alone needs aiohttp
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
from webhook.context import Access, Context, NoObjects, NotInstalled, Objects, Operation, PluginProfile, Settings, User
from webhook.draft import Draft
from webhook.job import Job
from webhook.kind import ConvertedJob, Default, GroupVersionKind, Kind, OperatorProfile, Registry, Schema
from webhook.path import Path
from webhook.review import Phase, review
from webhook.rule import Rule, adds_nothing, rule
from webhook.task import Dependencies, Task, UnknownWord
from webhook.view import readable

__all__ = [
    "Access",
    "Cause",
    "Context",
    "ConvertedJob",
    "Default",
    "Dependencies",
    "Draft",
    "Duplicate",
    "Forbidden",
    "GroupVersionKind",
    "Invalid",
    "Job",
    "Kind",
    "Malformed",
    "NoObjects",
    "NotFound",
    "NotInstalled",
    "NotSupported",
    "Notice",
    "Objects",
    "Operation",
    "OperatorProfile",
    "Path",
    "Phase",
    "PluginProfile",
    "Registry",
    "Request",
    "Required",
    "Response",
    "Rule",
    "Schema",
    "Settings",
    "Task",
    "TooLong",
    "TooMany",
    "TypeInvalid",
    "UnknownWord",
    "User",
    "adds_nothing",
    "readable",
    "review",
    "rule",
]
