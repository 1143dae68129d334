"""What the API server takes at most, and the lists that it chooses from: the generator keeps to them, the linter tells.

Sources: k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go, where nothing else is named.
"""

from typing import Final

#: Bytes of all annotations of an object together; client-side apply puts the whole object into one.
#: (k8s.io/apimachinery, pkg/api/validation/objectmeta.go)
ANNOTATIONS: Final = 262_144
#: Bytes of the warning of a deprecated version.
DEPRECATION_WARNING: Final = 256

#: How many fields selectors may name, and of which types they are.
SELECTABLE_FIELDS: Final = 8
SELECTABLE_TYPES: Final = ("boolean", "integer", "string")

#: What columns of `kubectl get` may be.
COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")

#: The versions of ConversionReview that it speaks: a webhook knows one of them.
CONVERSION_REVIEWS: Final = ("v1", "v1beta1")

#: Groups of Kubernetes' own, and the annotation that says who approved of a kind in them.
#: (k8s.io/apiextensions-apiserver, pkg/apihelpers/helpers.go)
COMMUNITY_GROUPS: Final = ("k8s.io", "kubernetes.io")
API_APPROVED: Final = "api-approved.kubernetes.io"

#: The formats of numbers that are checked; any other is ignored.
#: (k8s.io/apiextensions-apiserver, pkg/apiserver/validation/formats.go)
INTEGER_FORMATS: Final = ("int32", "int64")
NUMBER_FORMATS: Final = ("float", "double")

#: The least and the largest integer of a format (https://spec.openapis.org/oas/v3.0.3#data-types).
RANGES: Final = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
