"""Who may read the reviews that servers keep: the account of the console, and the users who may act for it."""

from __future__ import annotations

from typing import Any, Final

from jobgate.installation.choices import namespaced
from jobgate.installation.rbac import API, account, bound, rule
from jobgate.installation.tree import If, setting

#: The account whose tokens servers accept. No pod needs to run as it.
ACCOUNT: Final = "jobgate-console"
#: The path that RBAC protects; it is not one of the API server.
REVIEWS: Final = "/reviews"
#: Whether servers keep reviews.
KEEPS: Final = setting("keep_reviews")


def console() -> list[Any]:
    """Return the account, and a role for users of the console, which nobody has until it is bound."""
    rules = [
        rule("", "pods", verbs=("get", "list")),
        rule("", "pods/proxy", verbs=("get",)),
        rule("", "serviceaccounts/token", verbs=("create",), names=(ACCOUNT,)),
    ]
    role = namespaced(API, "Role", f"{ACCOUNT}-user", {"rules": rules})
    reading = bound(ACCOUNT, [{"nonResourceURLs": [REVIEWS], "verbs": ["get"]}])
    return [If(KEEPS, [account(ACCOUNT), *reading, role])]
