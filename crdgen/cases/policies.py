"""ValidatingAdmissionPolicies on requests (k8s.io/apiserver, pkg/admission/plugin/policy/validating).

Not evaluated: selectors of objects and namespaces, and the authorizer. What a policy cannot decide without them is
reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from crdgen import cel
from crdgen.cases.verdict import CaseVerdict, Request
from crdgen.schema.look import mapping, members, named, words

POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"
_SELECTORS: Final = ("namespaceSelector", "objectSelector")


def judge_by_policy(
    policy: Mapping[str, Any], bindings: Sequence[Mapping[str, Any]], request: Request, given: Mapping[str, Any]
) -> CaseVerdict | None:
    """Return the verdict of a policy, or None if it does not apply.

    Args:
        policy: the ValidatingAdmissionPolicy.
        bindings: the bindings of the file; a policy without one denies.
        request: the request.
        given: the values of `request`, `params` and `namespaceObject` in expressions.
    """
    name = str(mapping(policy, "metadata").get("name", ""))
    spec = mapping(policy, "spec")
    if not _matches(mapping(spec, "matchConstraints"), request, mapping(given, "request")):
        return None
    variables = {"object": request.object, "oldObject": request.old, **given}
    if not spec.get("paramKind"):
        del variables["params"]
    bound = [mapping(each, "spec") for each in bindings if mapping(each, "spec").get("policyName") == name]
    applying = [each for each in bound if _matches(mapping(each, "matchResources"), request, mapping(given, "request"))]
    if bound and not applying:
        return None
    unchecked = [f"{name}: {key} is not evaluated" for key in _SELECTORS if mapping(spec, "matchConstraints", key)]
    for each in applying:
        selectors = [key for key in _SELECTORS if mapping(each, "matchResources", key)]
        unchecked += [f"{name}: matchResources.{key} of its binding is not evaluated" for key in selectors]
    if spec.get("paramKind") and variables["params"] is None and any(each.get("paramRef") for each in applying):
        unchecked.append(f"{name}: paramRef of its binding is not evaluated: add the object as `params`")
    conditions = _results(spec, "matchConditions", variables, unchecked)
    messages = [problem for _, problem in conditions if problem]
    if any(holds is False for holds, _ in conditions) or (messages and spec.get("failurePolicy") == "Ignore"):
        return None
    if messages:  # the API server evaluates nothing else
        spec = {**spec, "variables": (), "validations": ()}
    variables["variables"] = _variables(spec, variables, unchecked)
    validations = [mapping(entry) for entry in members(spec.get("validations"))]
    results = _results(spec, "validations", variables, unchecked)
    failed = [
        (entry, problem or _message(entry, variables))
        for (holds, problem), entry in zip(results, validations, strict=True)
        if holds is False or (problem and spec.get("failurePolicy") != "Ignore")
    ]
    messages = messages or [message for _, message in failed]
    actions = {action for each in applying for action in words(each.get("validationActions"))} if bound else {"Deny"}
    return CaseVerdict(
        name,
        tuple(("", message) for message in messages) if "Deny" in actions else (),
        tuple(messages) if "Warn" in actions else (),
        tuple(unchecked),
        {_label(entry): any(entry is each for each, _ in failed) for entry in validations},
    )


def _results(
    spec: Mapping[str, Any], key: str, variables: Mapping[str, Any], unchecked: list[str]
) -> list[tuple[bool | None, str]]:
    """Return whether each condition holds, or None and why its evaluation failed."""
    results: list[tuple[bool | None, str]] = []
    for index, entry in enumerate(members(spec.get(key))):
        try:
            results.append((_value(mapping(entry).get("expression"), variables) is True, ""))
        except cel.EvaluationError as error:
            results.append((None, f"{key}[{index}]: {error}"))
        except (cel.NotEvaluated, cel.CompilationError) as error:
            unchecked.append(f"{key}[{index}]: {error}")
            results.append((None, ""))
    return results


def _label(validation: Mapping[str, Any]) -> str:
    return f"validation {' '.join(str(validation.get('expression')).split())}"


def _value(expression: Any, variables: Mapping[str, Any]) -> Any:
    if not cel.available():
        raise cel.NotEvaluated(cel.NOT_INSTALLED)
    from crdgen.cel.engine import evaluate_untyped  # noqa: PLC0415 - the library is optional

    return evaluate_untyped(str(expression), variables)


def _variables(spec: Mapping[str, Any], variables: Mapping[str, Any], unchecked: list[str]) -> dict[str, Any]:
    """Return the values of the policy's variables. One that fails is absent, so that who reads it fails."""
    values: dict[str, Any] = {}
    for name, entry in named(spec.get("variables")).items():
        try:
            values[name] = _value(entry.get("expression"), {**variables, "variables": values})
        except cel.EvaluationError:
            continue
        except (cel.NotEvaluated, cel.CompilationError) as error:
            unchecked.append(f"variables.{name}: {error}")
    return values


def _message(entry: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
    """Return the message of a violated validation: from a valid messageExpression, else the `message`."""
    try:
        text = _value(entry["messageExpression"], variables) if entry.get("messageExpression") else ""
    except (cel.EvaluationError, cel.NotEvaluated, cel.CompilationError):
        text = ""
    usable = text.strip() if isinstance(text, str) and "\n" not in text.strip() else ""
    return usable or str(entry.get("message") or f"failed expression: {entry.get('expression')}").strip()


def _matches(constraints: Mapping[str, Any], request: Request, described: Mapping[str, Any]) -> bool:
    """Return whether constraints match a request. Without rules, as in most bindings, they match all."""
    excluded = any(_rule_matches(rule, request, described) for rule in members(constraints.get("excludeResourceRules")))
    rules = members(constraints.get("resourceRules"))
    return not excluded and (not rules or any(_rule_matches(rule, request, described) for rule in rules))


def _rule_matches(rule: Any, request: Request, described: Mapping[str, Any]) -> bool:
    resource = mapping(described, "resource")
    pairs = [
        ("apiGroups", resource.get("group")),
        ("apiVersions", resource.get("version")),
        ("operations", request.operation),
        ("resources", resource.get("resource")),
    ]
    names = words(mapping(rule).get("resourceNames"))
    name = mapping(request.subject, "metadata").get("name")
    listed = ((words(mapping(rule).get(key)), value) for key, value in pairs)
    return all({"*", "*/*", value} & set(values) for values, value in listed) and (not names or name in names)


def described(request: Request, plurals: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of `request` in expressions; `plurals` are the plurals of kinds, by group and kind."""
    metadata = mapping(request.subject, "metadata")
    group, _, version = str(request.subject.get("apiVersion")).rpartition("/")
    kind = str(request.subject.get("kind"))
    yield "kind", {"group": group, "version": version, "kind": kind}
    plural = plurals.get((group, kind)) or _plural(kind.lower())
    yield "resource", {"group": group, "version": version, "resource": plural}
    yield from {"name": metadata.get("name", ""), "namespace": metadata.get("namespace", "")}.items()
    yield from {"operation": request.operation, "dryRun": False, "subResource": ""}.items()
    yield "userInfo", {"username": request.user, "groups": list(request.groups)}


def _plural(kind: str) -> str:
    """Return the plural that Kubernetes guesses (k8s.io/apimachinery, UnsafeGuessKindToResource)."""
    if kind == "endpoints":
        return kind
    if kind.endswith("s"):
        return f"{kind}es"
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
