"""Volumes of drivers outside Kubernetes, and of images: csi, flexVolume, image."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate import names
from jobgate.kinds.common.pod.volumes.fields import Fields, mapping, required, text
from webhook.cause import Cause, Invalid, Notice, NotSupported, TooLong
from webhook.path import Path

#: CSI: longest name of a driver, in characters.
DRIVER_LIMIT = 63

#: `core/v1` PullPolicy.
PULL_POLICIES = ("Always", "IfNotPresent", "Never")

_RESERVED = (".kubernetes.io", ".k8s.io")


def csi(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An inline CSI volume names its driver, and its secret if it has one (`core/v1` validation, CSIVolumeSource)."""
    yield from required(source, path, {"driver": "the name of the CSI driver"})
    driver = text(source, "driver")
    if len(driver) > DRIVER_LIMIT:
        yield TooLong(path / "driver", driver, DRIVER_LIMIT)
    elif driver and (fault := names.dns_subdomain(driver.lower())):
        yield Invalid(path / "driver", driver, fault.replace("lower case letters", "letters"))
    if source.get("nodePublishSecretRef") is None:
        return
    reference, here = mapping(source, "nodePublishSecretRef"), path / "nodePublishSecretRef"
    yield from required(reference, here, {"name": "the name of the secret"})
    name = text(reference, "name")
    if name and (fault := names.dns_subdomain(name)):
        yield Invalid(here / "name", name, fault)


def flex_volume(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A flexVolume names its driver, and its options keep off reserved prefixes (`core/v1`, FlexVolumeSource)."""
    yield from required(source, path, {"driver": "the name of the driver"})
    for option in mapping(source, "options"):
        if f".{option.partition('/')[0].lower()}".endswith(_RESERVED):
            yield Invalid((path / "options").key(option), option, "must not be in kubernetes.io or k8s.io")


def image(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An image volume has a reference and one of the pull policies (`core/v1` validation, ImageVolumeSource)."""
    yield from required(source, path, {"reference": "the image reference"})
    policy = text(source, "pullPolicy")
    if policy and policy not in PULL_POLICIES:
        yield NotSupported(path / "pullPolicy", policy, PULL_POLICIES)
