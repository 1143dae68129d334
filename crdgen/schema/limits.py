"""Limits of the API server and its lists of allowed values, for the generator and the linter.

The source is k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go, unless another is named.
"""

from typing import Final

#: Limit of all annotations of an object together, in bytes; client-side apply stores the whole object in one.
#: (k8s.io/apimachinery, pkg/api/validation/objectmeta.go)
ANNOTATIONS: Final = 262_144
#: Limit of the warning of a deprecated version, in bytes.
DEPRECATION_WARNING: Final = 256

#: Limit of selectable fields, and their types.
SELECTABLE_FIELDS: Final = 8
SELECTABLE_TYPES: Final = ("boolean", "integer", "string")

#: Types and formats of columns of `kubectl get`.
COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")

#: Supported versions of ConversionReview; a webhook must support one of them.
CONVERSION_REVIEWS: Final = ("v1", "v1beta1")

#: Groups of the Kubernetes community, and the annotation for the approval of a kind in them.
#: (k8s.io/apiextensions-apiserver, pkg/apihelpers/helpers.go)
COMMUNITY_GROUPS: Final = ("k8s.io", "kubernetes.io")
API_APPROVED: Final = "api-approved.kubernetes.io"

#: Checked formats of numbers; others are ignored.
#: (k8s.io/apiextensions-apiserver, pkg/apiserver/validation/formats.go)
INTEGER_FORMATS: Final = ("int32", "int64")
NUMBER_FORMATS: Final = ("float", "double")

#: The smallest and largest integer of a format (https://spec.openapis.org/oas/v3.0.3#data-types).
RANGES: Final = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
