"""ValidatingAdmissionPolicies on requests (k8s.io/apiserver, pkg/admission/plugin/policy/validating).

What asks the authorizer is not evaluated, and reported. Rules for other versions of a resource do not match.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from crdgen import cel
from crdgen.cases.verdict import CaseVerdict, Request
from crdgen.labels import selects
from crdgen.schema.look import mapping, members, named, words

POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"
#: The label that the API server sets in each Namespace.
_NAME_LABEL: Final = "kubernetes.io/metadata.name"
#: Kinds of the API server itself that have no namespace.
_OF_CLUSTER: Final = re.compile(
    "APIService|CertificateSigningRequest|ClusterRole(Binding)?|ClusterTrustBundle|CSI(Driver|Node)|"
    "CustomResourceDefinition|DeviceClass|FlowSchema|IngressClass|IPAddress|Namespace|Node|PersistentVolume|"
    "Priority(Class|LevelConfiguration)|ResourceSlice|RuntimeClass|ServiceCIDR|StorageClass|"
    "(Mutating|Validating)(AdmissionPolicy(Binding)?|WebhookConfiguration)|Volume(Attachment|AttributesClass)"
)
_AUTHORIZER: Final = "asks the authorizer, which only a cluster has: it is not judged here"
_NOT_GIVEN: Final = "paramRef of its binding needs the objects that it may name: add them as `params`"
_NO_PARAMS: Final = "no params found for policy binding with `Deny` parameterNotFoundAction"
#: What applies if the file has no binding of a policy.
_UNBOUND: Final[Mapping[str, Any]] = {"validationActions": ["Deny"]}


def judge_by_policy(
    policy: Mapping[str, Any], bindings: Sequence[Mapping[str, Any]], request: Request, given: Mapping[str, Any]
) -> CaseVerdict | None:
    """Return the verdict of a policy, or None if it is about other resources or operations.

    Args:
        policy: the ValidatingAdmissionPolicy.
        bindings: the bindings of the file; a policy without one denies.
        request: the request.
        given: the values of `request` and `namespaceObject` in expressions, and as `params` the objects among which
            parameters are looked up, or None.
    """
    name = str(mapping(policy, "metadata").get("name", ""))
    spec = mapping(policy, "spec")
    constraints = mapping(spec, "matchConstraints")
    if not _rules_match(constraints, request, given):
        return None
    validations = [mapping(entry) for entry in members(spec.get("validations"))]
    errors, warnings, unchecked, failed = list[str](), list[str](), list[str](), set[int]()
    bound = [mapping(each, "spec") for each in bindings if mapping(each, "spec").get("policyName") == name]
    for binding in bound or [_UNBOUND]:
        resources = mapping(binding, "matchResources")
        if not (_selects(constraints, request, given) and _selects(resources, request, given)):
            continue
        if not _rules_match(resources, request, given):
            continue
        try:
            params = _params(mapping(spec, "paramKind"), binding, given, unchecked)
        except LookupError as error:
            errors += [] if spec.get("failurePolicy") == "Ignore" else [f"failed to configure binding: {error}"]
            continue
        for each in params:
            variables = {"object": request.object, "oldObject": request.old, **given, "params": each}
            if not spec.get("paramKind"):
                del variables["params"]
            problems = _problems(spec, variables, unchecked)
            failed |= problems.keys()
            errors += problems.values() if "Deny" in words(binding.get("validationActions")) else ()
            warnings += problems.values() if "Warn" in words(binding.get("validationActions")) else ()
    return CaseVerdict(
        name,
        tuple(("", message) for message in dict.fromkeys(errors)),
        tuple(dict.fromkeys(warnings)),
        tuple(f"{name}: {sentence}" for sentence in dict.fromkeys(unchecked)),
        {_label(entry): index in failed for index, entry in enumerate(validations)},
    )


def _params(
    kind: Mapping[str, Any], binding: Mapping[str, Any], given: Mapping[str, Any], unchecked: list[str]
) -> list[Any]:
    """Return the objects with which a policy is evaluated, each by itself; [None] without parameters.

    Raises:
        LookupError: they cannot be looked up, or there are none, and the binding denies then.
    """
    reference = mapping(binding, "paramRef")
    if not kind or not (reference or binding is _UNBOUND):
        return [None]
    if given["params"] is None:
        unchecked += [_NOT_GIVEN] if reference else []
        return [None] if binding is _UNBOUND else []
    matching = [
        each for each in given["params"] if all(each.get(key) == kind.get(key) for key in ("apiVersion", "kind"))
    ]
    if binding is _UNBOUND:
        return matching or [None]
    namespace = reference.get("namespace") or mapping(given, "request").get("namespace")
    if not namespace and any(mapping(each, "metadata").get("namespace") for each in matching):
        raise LookupError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    matching = [
        each
        for each in matching
        for metadata in [mapping(each, "metadata")]
        if metadata.get("namespace", namespace) == namespace
        and metadata.get("name") == (reference.get("name") or metadata.get("name"))
        and selects(mapping(reference, "selector"), mapping(metadata, "labels"))
    ]
    if not matching and reference.get("parameterNotFoundAction") == "Deny":
        raise LookupError(_NO_PARAMS)
    return matching


def _problems(spec: Mapping[str, Any], variables: dict[str, Any], unchecked: list[str]) -> dict[int, str]:
    """Return the messages of violated validations by their index; -1 stands for a condition that failed."""
    ignores = spec.get("failurePolicy") == "Ignore"
    conditions = _results(spec, "matchConditions", variables, unchecked)
    problem = next((problem for _, problem in conditions if problem), "")
    if any(holds is False for holds, _ in conditions):
        return {}
    if problem:  # the API server evaluates nothing else
        return {} if ignores else {-1: problem}
    variables["variables"] = _variables(spec, variables, unchecked)
    results = _results(spec, "validations", variables, unchecked)
    return {
        index: problem or _message(mapping(entry), variables)
        for index, ((holds, problem), entry) in enumerate(zip(results, members(spec.get("validations")), strict=True))
        if holds is False or (problem and not ignores)
    }


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
    if cel.mentions(str(expression), "authorizer"):
        raise cel.NotEvaluated(_AUTHORIZER)
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


def _selects(constraints: Mapping[str, Any], request: Request, given: Mapping[str, Any]) -> bool:
    """Return whether the selectors match. Of objects, the new or the old one; outside of namespaces, any of these."""
    labels = [mapping(each, "metadata", "labels") for each in (request.object, request.old) if each is not None]
    selector = mapping(constraints, "objectSelector")
    if selector and not any(selects(selector, each) for each in labels):
        return False
    namespace = labels[0] if _is_namespace(request) else mapping(given["namespaceObject"], "metadata", "labels")
    outside = given["namespaceObject"] is None and not _is_namespace(request)
    return outside or selects(mapping(constraints, "namespaceSelector"), namespace)


def _rules_match(constraints: Mapping[str, Any], request: Request, given: Mapping[str, Any]) -> bool:
    """Return whether the rules match a request. Without rules, as in most bindings, they match all."""
    described = mapping(given, "request")
    excluded = any(_rule_matches(rule, request, described) for rule in members(constraints.get("excludeResourceRules")))
    rules = members(constraints.get("resourceRules"))
    return not excluded and (not rules or any(_rule_matches(rule, request, described) for rule in rules))


def _rule_matches(rule: Any, request: Request, described: Mapping[str, Any]) -> bool:
    resource = mapping(described, "resource")
    scope = "Namespaced" if described["namespace"] and not _is_namespace(request) else "Cluster"
    pairs = [
        (words(mapping(rule).get("apiGroups")), resource.get("group")),
        (words(mapping(rule).get("apiVersions")), resource.get("version")),
        (words(mapping(rule).get("operations")), request.operation),
        (words(mapping(rule).get("resources")), resource.get("resource")),
        ([mapping(rule).get("scope", "*")], scope),
        (words(mapping(rule).get("resourceNames")) or ["*"], described["name"]),
    ]
    return all({"*", "*/*", value, f"{value}/*"} & set(values) for values, value in pairs)


def _is_namespace(request: Request) -> bool:
    return (request.subject.get("apiVersion"), request.subject.get("kind")) == ("v1", "Namespace")


def in_namespace(
    request: Request, crd: Mapping[str, Any] | None, namespace: Mapping[str, Any] | None
) -> tuple[Request, Mapping[str, Any] | None]:
    """Return the request with the namespace in its objects, as the API server sets it, and the Namespace, if any.

    An object that names none is in the Namespace of the file, or in `default`. Others have no labels of their own.
    """
    kind, metadata = str(request.subject.get("kind")), mapping(request.subject, "metadata")
    scope = "Cluster" if _OF_CLUSTER.fullmatch(kind) else "Namespaced"
    if (scope if crd is None else mapping(crd, "spec").get("scope")) == "Cluster":
        return request, None
    given = mapping(namespace, "metadata").get("name")
    name = metadata.get("namespace") or given or "default"
    home = namespace if namespace and given in {name, None} else {"apiVersion": "v1", "kind": "Namespace"}
    labels = {**mapping(home, "metadata", "labels"), _NAME_LABEL: name}
    home = {**home, "metadata": {**mapping(home, "metadata"), "name": name, "labels": labels}}
    new, old = (
        each and {**each, "metadata": {**mapping(each, "metadata"), "namespace": name}}
        for each in (request.object, request.old)
    )
    return replace(request, object=new, old=old), home


def described(request: Request, plurals: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of `request` in expressions; `plurals` are the plurals of kinds, by group and kind."""
    metadata = mapping(request.subject, "metadata")
    group, _, version = str(request.subject.get("apiVersion")).rpartition("/")
    kind = str(request.subject.get("kind"))
    plural = plurals.get((group, kind)) or _plural(kind.lower())
    for prefix in ("kind", "requestKind"):
        yield prefix, {"group": group, "version": version, "kind": kind}
    for prefix in ("resource", "requestResource"):
        yield prefix, {"group": group, "version": version, "resource": plural}
    yield from {"name": metadata.get("name", ""), "namespace": metadata.get("namespace", "")}.items()
    yield from {"operation": request.operation, "dryRun": False, "subResource": "", "requestSubResource": ""}.items()
    yield "userInfo", {"username": request.user, "groups": list(request.groups)}


def _plural(kind: str) -> str:
    """Return the plural that Kubernetes guesses (k8s.io/apimachinery, UnsafeGuessKindToResource)."""
    if kind == "endpoints":
        return kind
    if kind.endswith("s"):
        return f"{kind}es"
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
