"""Types of fields that several kinds have, each with its bounds."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from crdgen import Atomic, Int32, MaxItems
from jobgate.kinds.common.policies import LifecyclePolicy
from jobgate.kinds.common.runner import PhaseCondition
from jobgate.names import ENTRIES_LIMIT

Number: TypeAlias = Annotated[int, Int32]
Count: TypeAlias = Annotated[int, Int32(minimum=0)]
Positive: TypeAlias = Annotated[int, Int32(minimum=1)]

Conditions: TypeAlias = Annotated[list[PhaseCondition], Atomic]
Policies: TypeAlias = Annotated[list[LifecyclePolicy], Atomic, MaxItems(ENTRIES_LIMIT)]
