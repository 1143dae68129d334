"""The rules of plugins: what a job asks for is known, understood, and can be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jobgate.jobs.crew import crew_of, plugins_of, requested, written_plugins
from jobgate.jobs.erased import APPLIED, applied_spec
from jobgate.jobs.prerequisites import NAMING, asked_of
from jobgate.names import LABEL_LIMIT
from jobgate.plugins import Crew, Derived
from jobgate.plugins.weight import too_large
from jobgate.rules.ordinary import is_ordinary
from jobgate.rules.tasks import GENERATED_SUFFIX, expected_name, name_path
from webhook import Cause, Context, Forbidden, Invalid, Job, Notice, NotSupported, Rule, TooLong, rule
from webhook.quiet import IMPOSED
from webhook.values import mapping


def _crew(job: Job[Any], context: Context) -> Crew:
    """Return what plugins know of the job, worked out for the first rule that asks."""
    if _crew not in job.shared:
        job.shared[_crew] = crew_of(job, context.namespace, expected_name(context), plugins=plugins_of(context))
    found: Crew = job.shared[_crew]
    return found


@rule("plugins", quiet=is_ordinary)
def plugins_are_known(job: Job[Any], context: Context) -> Iterator[Cause]:
    """A job with an unknown plugin would run without it."""
    known = [name for name, plugin in plugins_of(context).items() if not plugin.imposed]
    for name in mapping(job.word("plugins")):
        if name not in known:
            yield NotSupported(job.at("plugins").key(name), name, known)


@rule(reads=("plugins",), quiet=(f"annotations.{APPLIED}",))
def plugins_are_not_dropped_on_the_way(job: Job[Any], _: Context) -> Iterator[Notice]:
    """`kubectl apply` drops entries with a null value: the job would run without the plugin.

    What the file says is in the annotation by which kubectl remembers it.
    """
    sent = mapping(job.word("plugins"))
    for name, value in mapping(applied_spec(job.document, '"plugins"').get("plugins")).items():
        if value is None and name not in sent:
            yield Notice(job.at("plugins").key(name), f"kubectl drops null values: write `{name}: []`")


@rule("plugins", quiet=is_ordinary)
def plugins_understand_their_arguments(job: Job[Any], context: Context) -> Iterator[Cause]:
    """Arguments that a plugin does not know would be ignored."""
    yield from requested(job, plugins_of(context))[1]


@rule(reads=("plugins",), quiet=("plugins", IMPOSED, *NAMING, is_ordinary))
def plugins_can_be_carried_out(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """Each plugin checks whether it can work with the job."""
    imposed = context.settings.plugins
    if not (job.word("plugins") or imposed or asked_of(job)):
        return
    plugins, crew = plugins_of(context), _crew(job, context)
    if (crew.asks or imposed) and (fault := too_large(crew)):
        yield Forbidden(job.at("plugins"), fault)
    for name, arguments in crew.plugins.items():
        yield from plugins[name].check(crew, arguments, job.at("plugins").key(name))


@rule(reads=("plugins",), updates=True)
def plugins_reach_new_pods_only(job: Job[Any], context: Context) -> Iterator[Notice]:
    """Plugins apply when a pod is created: a change does not affect existing pods."""
    before, after = (written_plugins(job.kind, document) for document in (context.old or {}, job.document))
    for name in [*before, *(name for name in after if name not in before)]:
        verb = "removed" if name not in after else "added" if name not in before else "changed"
        if verb != "changed" or (before[name] or None) != (after[name] or None):
            text = f"{verb} for new pods only: existing pods and keys stay as they are"
            yield Notice(job.at("plugins").key(name), text)


@rule("plugins", quiet=is_ordinary)
def derived_objects_have_legal_names(job: Job[Any], context: Context) -> Iterator[Cause]:
    """Objects named after the job need legal names."""
    plugins, crew = plugins_of(context), _crew(job, context)
    derived = [one for name, arguments in crew.plugins.items() for one in plugins[name].derived(crew, arguments)]
    yield from derived_names(derived, context)


def derived_names(derived: Iterable[Derived], context: Context) -> Iterator[Cause]:
    """Yield what is wrong with a job's name for what is called by it."""
    derived, name = list(derived), expected_name(context)
    if not name or not derived:
        return
    place, given = name_path(context), context.name
    beginning = name[:LABEL_LIMIT].rstrip("-") or name
    for one in derived:
        if fault := one.fault_of(beginning):
            yield Invalid(place, given or context.generate_name, f"{fault}: {_called(one)}")
            break
    longest = max(derived, key=lambda one: one.extra)
    room = LABEL_LIMIT - longest.extra
    if len(name) > room:
        limit = room if given else room - len(GENERATED_SUFFIX)
        detail = f"{_called(longest)}, which may have at most {LABEL_LIMIT} characters"
        yield TooLong(place, given or context.generate_name, limit, detail)


def _called(derived: Derived) -> str:
    return f"{derived.maker} creates a {derived.thing} named {derived.name}"


#: The rules, in the order in which a reader wants to know; for kinds whose operator has no plugins of its own.
plugin_rules: tuple[Rule, ...] = (
    plugins_are_known,
    plugins_are_not_dropped_on_the_way,
    plugins_understand_their_arguments,
    plugins_can_be_carried_out,
    plugins_reach_new_pods_only,
    derived_objects_have_legal_names,
)
