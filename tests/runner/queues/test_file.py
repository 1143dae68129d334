"""The file of queues."""

from decimal import Decimal

import pytest

from jobgate.runner.queues.admission import Order, Queue, Queues
from jobgate.runner.queues.file import InvalidQueues, read_queues
from jobgate.runner.queues.selectors import SelectorName

FULL = """
selector: wrr
quota: {nvidia.com/gpu: 16}
queues:
- name: research
  weight: 5
  quota: {pods: 10, cpu: 500m, requests.memory: 1Ki, limits.cpu: "2"}
  order: fifo
  maxWaitSeconds: 60
  elastic: true
  notify: https://example.com/research
- name: default
holdSeconds: 30
"""


def test_a_file_says_all_of_its_queues() -> None:
    quota = {"pods": Decimal(10), "requests.cpu": Decimal("0.5"), "requests.memory": Decimal(1024)}
    address = "https://example.com/research"
    research = Queue(5, {**quota, "limits.cpu": Decimal(2)}, Order.FIFO, 60, elastic=True, notify=address)
    whole = {"requests.nvidia.com/gpu": Decimal(16)}
    expected = Queues({"research": research, "default": Queue()}, SelectorName.WRR, whole, hold=30)
    assert read_queues(FULL) == expected


def test_there_is_always_a_default_queue() -> None:
    assert list(read_queues("queues: [{name: a}]").queues) == ["a", "default"]


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        ("", ["the file: must be a mapping"]),
        ("a: [", ["line 2, column 1: not YAML"]),
        ("queues: [{name: a, weight: !!int x}]", ["the tag !!int is not supported"]),
        ("queues: [{name: a}]\nqueues: [{name: b}]", ["the key queues is there twice"]),
        ("queues: [{name: a}]\n---\nqueues: [{name: b}]", ["contains 2 documents"]),
        pytest.param("[" * 5000, ["nested too deep"], id="a list that is too deep"),
        ("{}", ["queues: Required value"]),
        ("queues: []", ["queues: ", "at least 1 item"]),
        ("{queues: [{name: a}], selector: lottery}", ["selector: must be 'rr', 'wrr' or 'smooth-wrr'"]),
        ("queues: [{name: a, weight: 0}, {weigth: 2}]", ["queues[0].weight", "queues[1].name", "queues[1].weigth"]),
        ("queues: [{name: a, weight: '5'}]", ["queues[0].weight: must be a valid integer"]),
        ("queues: [{name: A}, {name: b}, {name: b}]", ["queues[0].name: Invalid value", "queues[2].name: Duplicate"]),
        ("queues: [{name: a, quota: {cpu: lots}}]", ["queues[0].quota[cpu]: Invalid value: 'lots'"]),
        ("queues: [{name: a, quota: {cpu: -1}}]", ["queues[0].quota[cpu]", "negative"]),
        ("queues: [{name: a, quota: {cpu: 1, requests.cpu: 2}}]", ["queues[0].quota[requests.cpu]: Duplicate"]),
        ("{queues: [{name: a}], quota: {services: 1}}", ["quota[services]: Invalid value"]),
        ("queues: [{name: a, order: lifo}]", ["queues[0].order: must be 'priority' or 'fifo'"]),
        ("queues: [{name: a, maxWaitSeconds: -1}]", ["queues[0].maxWaitSeconds"]),
        ("queues: [{name: a, elastic: 1}]", ["queues[0].elastic: must be a valid boolean"]),
        ("{queues: [{name: a}], holdSeconds: 0}", ["holdSeconds: must be greater than or equal to 1"]),
        ("queues: [{name: a, notify: example.com}]", ["queues[0].notify: must be a URL with http or https"]),
        ("queues: [{name: a, notify: 'https://u:p@example.com'}]", ["queues[0].notify: must be a URL"]),
        ("queues: [{name: a, quota: {cpu: [1]}}]", ["queues[0].quota.cpu"]),
    ],
)
def test_each_fault_is_named_with_its_path(content: str, faults: list[str]) -> None:
    with pytest.raises(InvalidQueues) as raised:
        read_queues(content)
    assert all(fault in str(raised.value) for fault in faults), str(raised.value)
