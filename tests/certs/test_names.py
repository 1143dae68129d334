from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

import pytest

from certs import InvalidNames, service_names

LABEL = "must be at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit"
NAME = (
    "must be labels of at most 63 lower-case letters, digits and '-' joined by dots, each starting and ending with a "
    "letter or digit, in all at most 253 characters"
)
DNS_NAME = f"{NAME}, where '*.' may be before two labels or more; or an IP address without a zone"
LONG = f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 63}"
SERVICE_NAMES = ("web", "web.jobs", "web.jobs.svc", "web.jobs.svc.cluster.local")


@pytest.mark.parametrize(
    "given, expected",
    [
        ({}, SERVICE_NAMES),
        ({"cluster_domain": "k8s.example.com"}, (*SERVICE_NAMES[:3], "web.jobs.k8s.example.com")),
        ({"cluster_domain": "local"}, (*SERVICE_NAMES[:3], "web.jobs.local")),
        ({"extra_names": ["a.example.com", "localhost"]}, (*SERVICE_NAMES, "a.example.com", "localhost")),
        ({"extra_names": ["*.example.com"]}, (*SERVICE_NAMES, "*.example.com")),
        ({"extra_names": ["web.jobs", "b", "b"]}, (*SERVICE_NAMES, "b")),
        ({"extra_names": [f"{'a' * 63}." * 3 + "a" * 61]}, (*SERVICE_NAMES, f"{'a' * 63}." * 3 + "a" * 61)),
        ({"extra_names": iter(["a", "b"])}, (*SERVICE_NAMES, "a", "b")),
    ],
    ids=[
        "the Service's four names",
        "another cluster domain",
        "a cluster domain of one label",
        "extra names come after",
        "a wildcard",
        "each name once",
        "a name of 253 characters",
        "names that can be read only once",
    ],
)
def test_a_service_has_these_dns_names(given: Mapping[str, Any], expected: tuple[str, ...]) -> None:
    assert service_names("web", "jobs", **given).dns_names == expected


def test_a_service_may_start_with_a_digit() -> None:
    assert service_names("2web", "2jobs").dns_names[2] == "2web.2jobs.svc"


def test_each_ip_address_is_kept_once_however_it_is_written() -> None:
    names = service_names("web", "jobs", extra_names=["10.0.0.1", "fd00::1", "fd00:0::1", "10.0.0.1"])
    assert names.ip_addresses == (ip_address("10.0.0.1"), ip_address("fd00::1"))


@pytest.mark.parametrize(
    "given, fault",
    [
        ({"service": ""}, f"Service name '': {LABEL}"),
        ({"service": "Web"}, f"Service name 'Web': {LABEL}"),
        ({"service": "web-"}, f"Service name 'web-': {LABEL}"),
        ({"service": "web\n"}, f"Service name 'web\\n': {LABEL}"),
        ({"service": "a" * 64}, f"Service name '{'a' * 64}': {LABEL}"),
        ({"namespace": "my.jobs"}, f"namespace 'my.jobs': {LABEL}"),
        ({"namespace": "jöbs"}, f"namespace 'jöbs': {LABEL}"),
        ({"cluster_domain": ""}, f"cluster domain '': {NAME}"),
        ({"cluster_domain": "."}, f"cluster domain '.': {NAME}"),
        ({"cluster_domain": "cluster..local"}, f"cluster domain 'cluster..local': {NAME}"),
        ({"cluster_domain": "*.local"}, f"cluster domain '*.local': {NAME}"),
        ({"cluster_domain": "cluster.local."}, f"cluster domain 'cluster.local.': {NAME}"),
        (
            {"service": "a" * 63, "namespace": "b" * 63, "cluster_domain": f"{'c' * 63}.{'d' * 63}"},
            f"the Service's longest name {LONG!r}: must have at most 253 characters",
        ),
        ({"extra_names": ["a_b"]}, f"DNS name 'a_b': {DNS_NAME}"),
        ({"extra_names": ["a.*.b"]}, f"DNS name 'a.*.b': {DNS_NAME}"),
        ({"extra_names": ["*"]}, f"DNS name '*': {DNS_NAME}"),
        ({"extra_names": ["*.*.b"]}, f"DNS name '*.*.b': {DNS_NAME}"),
        ({"extra_names": ["a.example.com."]}, f"DNS name 'a.example.com.': {DNS_NAME}"),
        ({"extra_names": ["*.local"]}, f"DNS name '*.local': {DNS_NAME}"),
        (
            {"extra_names": [f"{'a' * 63}." * 3 + "a" * 62]},
            f"DNS name '{('a' * 63 + '.') * 3 + 'a' * 62}': {DNS_NAME}",
        ),
        (
            {"extra_names": ["10.0.0.0/8"]},
            f"DNS name '10.0.0.0/8': {DNS_NAME}",
        ),
        ({"extra_names": ["fe80::1%eth0"]}, f"DNS name 'fe80::1%eth0': {DNS_NAME}"),
    ],
)
def test_a_bad_name_is_rejected_with_what_would_be_right(given: Mapping[str, Any], fault: str) -> None:
    with pytest.raises(InvalidNames) as error:
        service_names(**{"service": "web", "namespace": "jobs", **given})
    assert error.value.faults == (fault,)
    assert str(error.value) == fault


def test_all_faults_are_reported_in_the_order_of_the_arguments() -> None:
    with pytest.raises(InvalidNames) as error:
        service_names("A", "B", cluster_domain="C", extra_names=["D", "ok", "E", "10.0.0.1"])
    assert [fault.split(": ")[0] for fault in error.value.faults] == [
        "Service name 'A'",
        "namespace 'B'",
        "cluster domain 'C'",
        "DNS name 'D'",
        "DNS name 'E'",
    ]
