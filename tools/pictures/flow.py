"""The diagram of how a job flows, from `kubectl apply` to its pods."""

from __future__ import annotations

from itertools import pairwise

from tools.pictures.svg import arrow, box, document, rectangle, text

TITLE = (
    "How a job flows: the API server prunes and defaults it by its schema, the mutating webhook adds absent defaults, "
    "the schema is checked, and the validating webhook allows, warns or denies. Only then is it stored, and its pods "
    "are created; the pod webhook wires them, and the controller creates the objects of the job's plugins."
)
WIDTH, HEIGHT = 880, 356
_TOP, _LOW, _TALL = 70, 236, 84


def flow() -> str:
    """Return the diagram as SVG."""
    steps = (
        (12, 112, "plain", "kubectl apply", "or a pipeline,", "or a program"),
        (152, 116, "plain", "schema", "prunes, adds", "its defaults"),
        (292, 132, "own", "mutate", "adds defaults", "that are absent"),
        (448, 112, "plain", "schema", "types, enums,", "bounds"),
        (584, 132, "own", "validate", "all rules:", "allow, warn, deny"),
        (752, 112, "plain", "stored", "in etcd"),
    )
    parts = [
        rectangle(140, 32, 588, 136, "frame"),
        text(152, 54, "API server: admission, before anything is stored", "soft"),
        rectangle(16, HEIGHT - 26, 14, 14, "own"),
        text(38, HEIGHT - 14, "part of jobgate", "soft"),
        *(box(x, _TOP, width, _TALL, *rest) for x, width, *rest in steps),
    ]
    ends = [(x, x + width) for x, width, *_ in steps]
    parts += [arrow(f"M{end} {_TOP + 42}H{start - 2}") for (_, end), (start, _) in pairwise(ends)]
    parts += [
        # The denial goes back to the user.
        arrow(f"M650 {_TOP + _TALL}V196H68V{_TOP + _TALL + 3}", "no"),
        f'<path d="M358 {_TOP + _TALL}V196" class="no"/>',
        text(82, 214, "denied: every fault at once, with its field", "bad"),
        arrow(f"M808 {_TOP + _TALL}V{_LOW - 2}"),
        box(716, _LOW, 148, _TALL, "own", "runner", "or the kind's operator:", "creates the pods"),
        box(500, _LOW, 168, _TALL, "own", "pod webhook", "puts names, ranks and", "hosts into each pod"),
        box(340, _LOW, 108, _TALL, "plain", "pods", "run, and find", "each other"),
        arrow(f"M716 {_LOW + 42}H670"),
        arrow(f"M500 {_LOW + 42}H450"),
        box(132, _LOW, 156, _TALL, "own", "controller", "Service, ConfigMap,", "Secret of plugins"),
        arrow(f"M288 {_LOW + 42}H338"),
    ]
    return document(WIDTH, HEIGHT, TITLE, parts)
