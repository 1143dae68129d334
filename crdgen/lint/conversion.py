"""Rules for conversion between versions."""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from crdgen.dns import LABEL, is_label, is_subdomain
from crdgen.formats import is_uri
from crdgen.lint.rule import Issue, error, warning
from crdgen.lint.versions import Definition
from crdgen.schema.limits import CONVERSION_REVIEWS
from crdgen.schema.look import mapping

_STRATEGIES: Final = ("None", "Webhook")
_CLIENT: Final = "spec.conversion.webhook.clientConfig"


@error("apiextensions validation.go, validateCustomResourceConversion")
def strategy_is_known(definition: Definition) -> Iterator[Issue]:
    """The conversion strategy is None or Webhook; only Webhook has a webhook configuration."""
    conversion = definition.spec.get("conversion")
    if conversion is None:
        return
    strategy = conversion.get("strategy", "")
    if strategy not in _STRATEGIES:
        yield Issue(
            "spec.conversion.strategy",
            f"strategy must be None or Webhook, not {strategy!r}",
            "set spec.conversion.strategy to None or Webhook",
        )
    webhook = conversion.get("webhook", {})
    if strategy != "Webhook" and ("clientConfig" in webhook or webhook.get("conversionReviewVersions")):
        yield Issue(
            "spec.conversion.webhook", "there is a webhook without strategy: Webhook", "write it, or remove this"
        )
    if strategy == "Webhook" and not webhook.get("clientConfig"):
        yield Issue(_CLIENT, "strategy Webhook needs a clientConfig", "write service or url")


@error("apiextensions validation.go, validateConversionReviewVersions")
def review_versions_are_supported(definition: Definition) -> Iterator[Issue]:
    """The webhook accepts a version of ConversionReview that the API server sends."""
    conversion = definition.spec.get("conversion", {})
    if conversion.get("strategy") != "Webhook":
        return
    path = "spec.conversion.webhook.conversionReviewVersions"
    versions = conversion.get("webhook", {}).get("conversionReviewVersions", [])
    if not set(versions) & set(CONVERSION_REVIEWS):
        yield Issue(path, f"one of {', '.join(CONVERSION_REVIEWS)} must be in the list", "write [v1]")
    for index, name in enumerate(versions):
        if name in versions[:index]:
            yield Issue(f"{path}[{index}]", f"{name} is there twice", "remove one")
        elif not is_label(name):
            yield Issue(f"{path}[{index}]", f"{name!r} must be a label: {LABEL}", "write v1")


@error("apiextensions validation.go; k8s.io/apiserver, pkg/util/webhook/validation.go")
def webhook_has_one_address(definition: Definition) -> Iterator[Issue]:
    """A webhook has a Service with a namespace, name, port and path; or a URL with the scheme https, host and path."""
    client = _client(definition)
    url, service = client.get("url"), client.get("service")
    if client and (url is None) == (service is None):
        yield Issue(_CLIENT, "exactly one of url and service is the address", "set url or service")
    elif url is not None and (problem := _url_problem(url)):
        yield Issue(f"{_CLIENT}.url", f"{url!r}: {problem}", "write https://host/path")
    elif service is not None:
        yield from _service(service)


def _service(service: Mapping[str, Any]) -> Iterator[Issue]:
    for field in ("namespace", "name"):
        if not service.get(field):
            yield Issue(f"{_CLIENT}.service.{field}", f"the Service has no {field}", "write it")
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        yield Issue(f"{_CLIENT}.service.port", f"{port} is not a port number", "write a number from 1 to 65535")
    path = service.get("path", "")
    steps = path.removeprefix("/").removesuffix("/").split("/")
    if path not in {"", "/"} and not (path.startswith("/") and all(map(is_subdomain, steps))):
        fix = "write /convert or such: lower-case letters, digits, dashes and dots between slashes"
        yield Issue(f"{_CLIENT}.service.path", f"{path!r} is not a valid path", fix)


@warning("apiextensions validation.go, allowInvalidCABundle")
def ca_bundle_is_pem(definition: Definition) -> Iterator[Issue]:
    """A CA bundle without certificate is accepted for new CRDs, but then conversion always fails."""
    bundle = _client(definition).get("caBundle", "")
    text = b64decode(bundle).decode("ascii", "replace") if bundle else ""
    if bundle and "-----BEGIN CERTIFICATE-----" not in text:
        yield Issue(f"{_CLIENT}.caBundle", "the caBundle is not a PEM certificate", "write base64 of the PEM file")


@warning("k8s.io/kubernetes, pkg/apis/core/validation/validation.go, ValidateServiceName")
def service_name_is_valid(definition: Definition) -> Iterator[Issue]:
    """The names of the Service and its namespace are DNS labels; no Service has another name."""
    service = _client(definition).get("service", {})
    for field in ("namespace", "name"):
        name = service.get(field)
        if name and not is_label(name):
            yield Issue(f"{_CLIENT}.service.{field}", f"{name!r} must be a label: {LABEL}", "write its name")


def _client(definition: Definition) -> Mapping[str, Any]:
    conversion = definition.spec.get("conversion", {})
    return mapping(conversion, "webhook", "clientConfig") if conversion.get("strategy") == "Webhook" else {}


def _url_problem(url: str) -> str | None:
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
