"""Resolution: the three scenarios whole, and every reference that cannot be resolved with its reason and chain."""

from typing import Any

import pytest

from jobgate.prerequisites.content import content_of
from jobgate.prerequisites.reference import NAMESPACED, Reference
from jobgate.prerequisites.resolve import DEPTH, resolve
from tests.prerequisites.items import Known, examples, item, named, starts, wants

MOUNTED = ("confignfs", "/mnt/confignfs_pvc", "", False)


def messages_of(references: list[Reference], documents: list[dict[str, Any]]) -> list[str]:
    """The problems of references, one by one."""
    resolution = resolve(references, Known(documents).find())
    return [each.message("DIJob train") for each in (*resolution.problems, *content_of(resolution)[1])]


@pytest.mark.parametrize(
    ("names", "order", "hooks", "mounts"),
    [
        (
            ["mnist"],
            ["ClusterPrerequisite/install-wget", "ClusterPrerequisite/mnist", "Prerequisite/mnist"],
            [
                ("taskStarts", ("apt update", "apt install -y wget")),
                (
                    "taskStarts",
                    (
                        "mkdir -p /dataset/mnist",
                        "wget http://1.2.3.4/mnist.zip -O /dataset/mnist/mnist.zip",
                        "cd /dataset/mnist",
                        "unzip mnist.zip",
                    ),
                ),
            ],
            [],
        ),
        (
            ["imagenet"],
            ["ClusterPrerequisite/confignfs-pvc", "ClusterPrerequisite/imagenet", "Prerequisite/imagenet"],
            [("taskStarts", ("mkdir -p /dataset/imagenet", "cp -r /mnt/confignfs_pvc/imagenet/* /dataset/imagenet"))],
            [MOUNTED],
        ),
        (
            ["imagenet", "imagenet-only-validation"],
            [
                "ClusterPrerequisite/confignfs-pvc",
                "ClusterPrerequisite/imagenet",
                "Prerequisite/imagenet",
                "ClusterPrerequisite/imagenet-only-validation",
                "Prerequisite/imagenet-only-validation",
            ],
            [
                ("taskStarts", ("mkdir -p /dataset/imagenet", "cp -r /mnt/confignfs_pvc/imagenet/* /dataset/imagenet")),
                (
                    "taskStarts",
                    (
                        "mkdir -p /dataset/imagenet-validation",
                        "cp -r /mnt/confignfs_pvc/imagenet/validation/* /dataset/imagenet-validation",
                    ),
                ),
            ],
            [MOUNTED],
        ),
        (
            ["debug-hook"],
            ["ClusterPrerequisite/debug-hook", "Prerequisite/debug-hook"],
            [("taskFails", ('echo "will sleep for 30 minutes for debugging..."', "sleep 30m"))],
            [],
        ),
    ],
    ids=["mnist", "imagenet", "imagenet with validation", "debug_hook"],
)
def test_a_scenario_resolves_to_its_items_hooks_and_mounts_in_order(
    names: list[str], order: list[str], hooks: list[Any], mounts: list[Any]
) -> None:
    resolution = resolve([named(name, NAMESPACED) for name in names], Known(examples()).find())
    assert not resolution.problems
    assert list(resolution.items) == order
    content, conflicts = content_of(resolution)
    assert not conflicts
    assert [(hook.event, hook.commands) for hook in content.hooks] == hooks
    assert [(mount.claim, mount.path, mount.sub_path, mount.read_only) for mount in content.mounts] == mounts


def chain(length: int) -> list[dict[str, Any]]:
    """Items that require each other in a row."""
    return [item(f"i{place}", require=[wants(f"i{place + 1}")]) for place in range(length - 1)] + [
        item(f"i{length - 1}")
    ]


VARIABLE = [{"name": "path"}]


@pytest.mark.parametrize(
    ("references", "documents", "expected"),
    [
        (
            [named("mnist", NAMESPACED)],
            [*examples("items.yaml"), item("mnist", NAMESPACED, require=[wants("mnist", "ClusterPrerequisite")])],
            "MissingVariable: DIJob train → Prerequisite mnist → ClusterPrerequisite mnist: ClusterPrerequisite mnist "
            "needs a value for dataPath: write it in templateVariables",
        ),
        (
            [named("a", path="/x", more="y")],
            [item("a", templateVariables=VARIABLE)],
            "UnknownVariable: DIJob train → ClusterPrerequisite a: ClusterPrerequisite a has no variable more: it has path",
        ),
        (
            [named("a")],
            [item("a", cmd=starts("ls {{ path }}"))],
            "UndeclaredPlaceholder: DIJob train → ClusterPrerequisite a: spec.cmd.callbacks[0].commands[0]: path is not "
            "in templateVariables; none is declared",
        ),
        (
            [named("a")],
            [item("a", env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "{{ of }}", "key": "k"}}}])],
            "UndeclaredPlaceholder: DIJob train → ClusterPrerequisite a: spec.env[0].valueFrom.secretKeyRef.name: of is "
            "not in templateVariables; none is declared",
        ),
        (
            [named("a")],
            [item("a", require=[wants("b")]), item("b", require=[wants("a")])],
            "Cycle: DIJob train → ClusterPrerequisite a → ClusterPrerequisite b → ClusterPrerequisite a: "
            "ClusterPrerequisite a requires itself: remove one of these requirements",
        ),
        (
            [named("a", NAMESPACED)],
            [item("a")],
            "UnknownReference: DIJob train → Prerequisite a: there is no Prerequisite a in the namespace; for the "
            "ClusterPrerequisite of this name write kind: ClusterPrerequisite",
        ),
        (
            [named("a")],
            [item("a", require=[wants("b", NAMESPACED)]), item("b", NAMESPACED)],
            "UnknownReference: DIJob train → ClusterPrerequisite a: spec.require[0].kind: a ClusterPrerequisite can "
            "require only ClusterPrerequisites: it means the same in all namespaces",
        ),
        (
            [named("a")],
            [item("a", require=[wants("b", path="{{ path }}")], templateVariables=[{"name": "x", "default": "1"}]),
             item("b", templateVariables=[{"name": "path", "pattern": ".*"}])],
            "UndeclaredPlaceholder: DIJob train → ClusterPrerequisite a: spec.require[0].templateVariables[path]: values "
            "are literals: no placeholder is replaced here",
        ),
        (
            [named("a")],
            [item("a", pvcStorage={"name": "c", "mountPath": "/d"}, require=[wants("b")]),
             item("b", pvcStorage={"name": "d", "mountPath": "/d"})],
            "MountConflict: DIJob train → ClusterPrerequisite a: mounts claim c at /d, and ClusterPrerequisite b mounts "
            "claim d at /d: give one of them another mountPath",
        ),
        (
            [named("a")],
            [item("a", pvcStorage={"name": "c", "mountPath": "/d", "readOnly": True}, require=[wants("b")]),
             item("b", pvcStorage={"name": "c", "mountPath": "/d/"})],
            "MountConflict: DIJob train → ClusterPrerequisite a: mounts claim c at /d read-only, and ClusterPrerequisite b "
            "mounts claim c at /d: give one of them another mountPath",
        ),
        (
            [named("a")],
            [item("a", pvcStorage={"name": "c", "mountPath": "d"})],
            "InvalidValue: DIJob train → ClusterPrerequisite a: pvcStorage.mountPath 'd' must be an absolute path other "
            "than /",
        ),
        (
            [named("i0")],
            chain(DEPTH + 1),
            "DepthExceeded: DIJob train → "
            + " → ".join(f"ClusterPrerequisite i{place}" for place in range(DEPTH))
            + f": more than {DEPTH} items require one another in a row: require fewer, or merge some",
        ),
        (
            [named(f"i{place}") for place in range(65)],
            [item(f"i{place}") for place in range(65)],
            "TooLarge: DIJob train → ClusterPrerequisite i64: more than 64 items, each counted once for each set of "
            "values: require fewer",
        ),
        (
            [named("a")],
            [item("a", cmd=starts(*["x" * 4000] * 9))],
            "TooLarge: DIJob train: the commands of all items have more than 32768 bytes",
        ),
        (
            [named("a")],
            [item("a", env=[{"name": "A", "value": "1"}], require=[wants("b")]), item("b", env=[{"name": "A", "value": "2"}])],
            "EnvConflict: DIJob train → ClusterPrerequisite a: variable A has another value in an item before it",
        ),
        (
            [named("a")],
            [item("a", cmd=starts("echo a\r"))],
            "Malformed: DIJob train → ClusterPrerequisite a: spec.cmd.callbacks[0].commands[0]: must not hold carriage "
            "returns or NUL: no shell takes them",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_resolved_says_its_reason_and_the_whole_chain(
    references: list[Reference], documents: list[dict[str, Any]], expected: str
) -> None:
    assert messages_of(references, documents) == [expected]


CLUSTER_LOOP = [item("x", require=[wants("y")]), item("y", require=[wants("z")]), item("z", require=[wants("x")])]
UP, C, P = "Cycle: DIJob train → ", "ClusterPrerequisite", "Prerequisite"


@pytest.mark.parametrize(
    ("case", "reference", "documents", "way", "requires_itself"),
    [
        ("an item requires itself", named("a"), [item("a", require=[wants("a")])], [f"{C} a", f"{C} a"], f"{C} a"),
        ("a namespaced one does", named("a", P), [item("a", P, require=[wants("a", P)])], [f"{P} a", f"{P} a"], f"{P} a"),
        ("two namespaced ones, by the kind that is meant if none is written", named("a", P),
         [item("a", P, require=[wants("b")]), item("b", P, require=[wants("a")])], [f"{P} a", f"{P} b", f"{P} a"], f"{P} a"),
        ("cluster items behind a namespaced one", named("a", P), [item("a", P, require=[wants("x", C)]), *CLUSTER_LOOP],
         [f"{P} a", f"{C} x", f"{C} y", f"{C} z", f"{C} x"], f"{C} x"),
        ("equal names in both scopes, and the circle is in one", named("x", P),
         [item("x", P, require=[wants("x", C)]), *CLUSTER_LOOP],
         [f"{P} x", f"{C} x", f"{C} y", f"{C} z", f"{C} x"], f"{C} x"),
        ("other values each time round", named("a"), [
            item("a", templateVariables=[{"name": "n", "default": 0}], require=[wants("b", n=1)]),
            item("b", templateVariables=[{"name": "n"}], require=[wants("a", n=2)])],
         [f"{C} a", f"{C} b", f"{C} a"], f"{C} a"),
        ("beside what is sound", named("a"),
         [item("a", require=[wants("ok"), wants("b")]), item("ok"), item("b", require=[wants("ok"), wants("a")])],
         [f"{C} a", f"{C} b", f"{C} a"], f"{C} a"),
    ],
)  # fmt: skip
def test_a_circle_is_shown_as_the_whole_way_from_the_job_and_ends_where_it_closes(
    case: str, reference: Reference, documents: list[dict[str, Any]], way: list[str], requires_itself: str
) -> None:
    expected = f"{UP}{' → '.join(way)}: {requires_itself} requires itself: remove one of these requirements"
    assert messages_of([reference], documents) == [expected], case


def test_a_diamond_is_no_circle_and_its_foot_is_there_once() -> None:
    documents = [
        item("top", P, require=[wants("left"), wants("right", C)]),
        item("left", P, require=[wants("foot", C, n=1)]),
        item("right", require=[wants("foot", n="1")]),
        item("foot", templateVariables=[{"name": "n"}]),
    ]
    resolution = resolve([named("top", P)], Known(documents).find())
    assert not resolution.problems
    assert list(resolution.items) == [f"{C}/foot", f"{P}/left", f"{C}/right", f"{P}/top"]
    assert resolution.instances[0].chain == (f"{P} top", f"{P} left", f"{C} foot")


def test_a_fault_at_the_foot_of_a_diamond_is_reported_once() -> None:
    documents = [item("top", require=[wants("left"), wants("right")]), item("left", require=[wants("foot")]),
                 item("right", require=[wants("foot")]), item("foot", cmd=starts("ls {{ x }}"))]  # fmt: skip
    (text,) = messages_of([named("top")], documents)
    assert text.startswith("UndeclaredPlaceholder: DIJob train → ClusterPrerequisite top → ClusterPrerequisite left → ")


def test_as_many_items_in_a_row_as_are_allowed_resolve() -> None:
    assert len(resolve([named("i0")], Known(chain(DEPTH)).find()).instances) == DEPTH


def test_the_depth_counts_from_the_job_through_both_scopes() -> None:
    documents = [item("start", P, require=[wants("i0", C)]), *chain(DEPTH)]
    (text,) = messages_of([named("start", P)], documents)
    assert text.startswith("DepthExceeded: DIJob train → Prerequisite start → ClusterPrerequisite i0 → ")


def test_one_item_with_equal_values_is_there_once_and_with_others_twice() -> None:
    documents = [
        item("disk", templateVariables=VARIABLE, pvcStorage={"name": "c", "mountPath": "{{ path }}"}),
        item("a", require=[wants("disk", path="/x")]),
        item("b", require=[wants("disk", path="/x")]),
        item("c", require=[wants("disk", path="/x/y")]),
    ]
    resolution = resolve([named("c"), named("a"), named("b")], Known(documents).find())
    assert [instance.item.name for instance in resolution.instances] == ["disk", "c", "disk", "a", "b"]
    mounts = content_of(resolution)[0].mounts
    assert [mount.path for mount in mounts] == ["/x", "/x/y"], "parents come before what is below them"


def test_a_name_that_is_listed_twice_counts_once_and_is_reported() -> None:
    resolution = resolve([named("a"), named("a")], Known([item("a")]).find())
    assert (len(resolution.instances), resolution.repeated) == (1, (1,))


def test_hooks_after_the_task_run_in_reverse_order() -> None:
    documents = [
        item("a", cmd=starts("a", event="taskSucceeds")),
        item("b", cmd={"callbacks": [
            {"event": "taskStarts", "commands": ["one"]}, {"event": "taskSucceeds", "commands": ["b"]},
            {"event": "taskStarts", "commands": ["two"]},
        ]}),
    ]  # fmt: skip
    hooks = content_of(resolve([named("a"), named("b")], Known(documents).find()))[0].hooks
    assert [hook.commands for hook in hooks] == [("one", "two"), ("b",), ("a",)]


def test_a_local_item_of_the_name_of_a_clusters_is_no_cycle() -> None:
    assert not messages_of([named("mnist", NAMESPACED)], examples())
