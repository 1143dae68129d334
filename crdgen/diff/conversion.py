"""Changes of the conversion between versions."""

from collections.abc import Iterator, Mapping
from typing import Any

from crdgen.diff.change import REFUSES, Break, Change
from crdgen.schema.look import canonical, mapping, members, words

_WEBHOOK = "Webhook"


def strategy(crd: Mapping[str, Any]) -> str:
    """Return the strategy: `None`, which changes nothing but the apiVersion, or `Webhook`."""
    return _WEBHOOK if mapping(crd, "spec", "conversion").get("strategy") == _WEBHOOK else "None"


def conversion(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield changes of the conversion, and of whether unknown fields are kept throughout."""
    path = "spec.conversion"
    was, now = strategy(old), strategy(new)
    several = len(members(mapping(new, "spec").get("versions"))) > 1
    if was == _WEBHOOK != now:
        what = "objects are no longer converted by a webhook: fields that another version calls otherwise are lost"
        fix = "keep the webhook until all objects are stored in the one version that is left"
        yield Change(f"{path}.strategy", what, *((REFUSES, fix) if several else ((), "")))
    elif now == _WEBHOOK != was:
        yield Change(f"{path}.strategy", "a webhook now converts objects, and must be available for every read")
    elif canonical(mapping(old, "spec", "conversion")) != canonical(mapping(new, "spec", "conversion")):
        yield from _webhook(
            mapping(old, "spec", "conversion", "webhook"), mapping(new, "spec", "conversion", "webhook")
        )
    kept, keeps = (mapping(one, "spec").get("preserveUnknownFields") is True for one in (old, new))
    if kept and not keeps:
        what = "unknown fields are now pruned: what stored objects have there is lost"
        fix = "keep it until every field that is in use is named"
        yield Change("spec.preserveUnknownFields", what, REFUSES, fix)
    if keeps and not kept:
        what = "unknown fields are now kept, which the API server refuses for apiextensions.k8s.io/v1"
        yield Change("spec.preserveUnknownFields", what, (Break.CLIENTS,), "leave it out")


def _webhook(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if canonical(old.get("clientConfig")) != canonical(new.get("clientConfig")):
        yield Change("spec.conversion.webhook.clientConfig", "the clientConfig of the conversion webhook changed")
    was, now = (words(one.get("conversionReviewVersions")) for one in (old, new))
    if was != now:
        what = f"{', '.join(was)} are now {', '.join(now)}"
        yield Change("spec.conversion.webhook.conversionReviewVersions", what)
