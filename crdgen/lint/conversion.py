"""Rules for conversion between versions."""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from crdgen.dns import LABEL, is_label, is_subdomain
from crdgen.formats import is_uri
from crdgen.lint.rule import Problem, error, warning
from crdgen.lint.versions import Definition
from crdgen.schema.limits import CONVERSION_REVIEWS

_STRATEGIES: Final = ("None", "Webhook")
_CLIENT: Final = "spec.conversion.webhook.clientConfig"


@error("apiextensions validation.go, validateCustomResourceConversion")
def strategy_is_known(definition: Definition) -> Iterator[Problem]:
    """The conversion strategy is None or Webhook; only Webhook has a webhook configuration."""
    conversion = definition.spec.get("conversion")
    if conversion is None:
        return
    strategy = conversion.get("strategy", "")
    if strategy not in _STRATEGIES:
        yield Problem(
            "spec.conversion.strategy",
            f"strategy must be None or Webhook, not {strategy!r}",
            "set spec.conversion.strategy to None or Webhook",
        )
    webhook = conversion.get("webhook", {})
    if strategy != "Webhook" and ("clientConfig" in webhook or webhook.get("conversionReviewVersions")):
        yield Problem(
            "spec.conversion.webhook", "there is a webhook without strategy: Webhook", "write it, or remove this"
        )
    if strategy == "Webhook" and "clientConfig" not in webhook:
        yield Problem(_CLIENT, "strategy Webhook needs a clientConfig", "write service or url")


@error("apiextensions validation.go, validateConversionReviewVersions")
def review_versions_are_spoken(definition: Definition) -> Iterator[Problem]:
    """The webhook accepts a version of ConversionReview that the API server sends."""
    conversion = definition.spec.get("conversion", {})
    if conversion.get("strategy") != "Webhook":
        return
    path = "spec.conversion.webhook.conversionReviewVersions"
    versions = conversion.get("webhook", {}).get("conversionReviewVersions", [])
    if not set(versions) & set(CONVERSION_REVIEWS):
        yield Problem(path, f"one of {', '.join(CONVERSION_REVIEWS)} must be in the list", "write [v1]")
    for index, name in enumerate(versions):
        if name in versions[:index]:
            yield Problem(f"{path}[{index}]", f"{name} is there twice", "remove one")
        elif not is_label(name):
            yield Problem(f"{path}[{index}]", f"{name!r} must be a label: {LABEL}", "write v1")


@error("apiextensions validation.go, validateCustomResourceConversion")
def webhook_has_one_address(definition: Definition) -> Iterator[Problem]:
    """A webhook has a Service or a URL."""
    client = _client(definition)
    if client is not None and ("url" in client) == ("service" in client):
        yield Problem(_CLIENT, "exactly one of url and service is the address", "set url or service")


@error("k8s.io/apiserver, pkg/util/webhook/validation.go, ValidateWebhookURL")
def webhook_url_is_plain(definition: Definition) -> Iterator[Problem]:
    """The URL of a webhook has the scheme https, a host and a path only."""
    client = _client(definition)
    if client is None or "url" not in client or "service" in client:
        return
    problem = _problem_of_url(client["url"])
    if problem:
        yield Problem(f"{_CLIENT}.url", f"{client['url']!r}: {problem}", "write https://host/path")


@error("k8s.io/apiserver, pkg/util/webhook/validation.go, ValidateWebhookService")
def webhook_service_is_named(definition: Definition) -> Iterator[Problem]:
    """A Service has a namespace, a name, a port and a path."""
    service = (_client(definition) or {}).get("service")
    if service is None or "url" in (_client(definition) or {}):
        return
    for field in ("namespace", "name"):
        if not service.get(field):
            yield Problem(f"{_CLIENT}.service.{field}", f"the Service has no {field}", "write it")
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        yield Problem(f"{_CLIENT}.service.port", f"{port} is not a port number", "write a number from 1 to 65535")
    path = service.get("path", "")
    if path in {"", "/"}:
        return
    steps = path.removeprefix("/").removesuffix("/").split("/")
    if not path.startswith("/") or not all(is_subdomain(step) for step in steps):
        fix = "write /convert or such: lower-case letters, digits, dashes and dots between slashes"
        yield Problem(f"{_CLIENT}.service.path", f"{path!r} is not a valid path", fix)


@warning("apiextensions validation.go, allowInvalidCABundle")
def ca_bundle_is_pem(definition: Definition) -> Iterator[Problem]:
    """A CA bundle without certificate is accepted for new CRDs, but then conversion always fails."""
    bundle = (_client(definition) or {}).get("caBundle", "")
    text = b64decode(bundle).decode("ascii", "replace") if bundle else ""
    if bundle and "-----BEGIN CERTIFICATE-----" not in text:
        yield Problem(f"{_CLIENT}.caBundle", "the caBundle is not a PEM certificate", "write base64 of the PEM file")


@warning("k8s.io/kubernetes, pkg/apis/core/validation/validation.go, ValidateServiceName")
def service_can_be_there(definition: Definition) -> Iterator[Problem]:
    """The names of the Service and its namespace are DNS labels; no Service has another name."""
    service = (_client(definition) or {}).get("service") or {}
    for field in ("namespace", "name"):
        name = service.get(field)
        if name and not is_label(name):
            yield Problem(f"{_CLIENT}.service.{field}", f"{name!r} must be a label: {LABEL}", "write its name")


def _client(definition: Definition) -> Mapping[str, Any] | None:
    conversion = definition.spec.get("conversion", {})
    if conversion.get("strategy") != "Webhook":
        return None
    client: Mapping[str, Any] | None = conversion.get("webhook", {}).get("clientConfig")
    return client


def _problem_of_url(url: str) -> str | None:
    if not is_uri(url.partition("#")[0]):
        return "is not a URL"
    parts = urlsplit(url)
    checks = (
        (parts.scheme == "https", "must begin with https://"),
        (parts.netloc, "has no host"),
        ("@" not in parts.netloc, "must not have a user"),
        (not parts.query and not parts.fragment, "must not have a query or a fragment"),
    )
    return next((problem for holds, problem in checks if not holds), None)
