"""Rules for plugins: each plugin of a job is known, has valid arguments, and works with the job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.crew import crew_of, plugins_of, requested, written_plugins
from jobgate.jobs.erased import APPLIED, applied_spec
from jobgate.jobs.job import Job, computed_once
from jobgate.jobs.prerequisites import asked_of
from jobgate.names import LABEL_LIMIT
from jobgate.plugins import Crew, Derived, lacking
from jobgate.plugins.weight import too_large
from jobgate.rules.tasks import GENERATED_SUFFIX, expected_name, name_path
from webhook import Cause, Forbidden, Invalid, Notice, NotSupported, Rule, TooLong, rule
from webhook.values import mapping


@computed_once
def _crew(job: Job[Any], context: Context) -> Crew:
    """Return what plugins know of the job."""
    return crew_of(job, context.namespace, expected_name(context), plugins=plugins_of(context))


@rule("plugins")
def plugins_are_known(job: Job[Any], context: Context) -> Iterator[Cause]:
    """A job with an unknown plugin would run without it."""
    known = [name for name, plugin in plugins_of(context).items() if not plugin.imposed]
    for name in mapping(job.get("plugins")):
        if name not in known:
            yield NotSupported(job.at("plugins").key(name), name, known)
            for broken in lacking():
                yield Forbidden(job.at("plugins").key(name), f"or its package is broken: {broken}", value=name)


@rule(f"annotations.{APPLIED}")
def plugins_are_not_dropped_on_the_way(job: Job[Any], _: Context) -> Iterator[Notice]:
    """`kubectl apply` drops entries with a null value: the job would run without the plugin.

    The annotation in which kubectl keeps the applied file still has the entry.
    """
    sent = mapping(job.get("plugins"))
    for name, value in mapping(applied_spec(job.document, '"plugins"').get("plugins")).items():
        if value is None and name not in sent:
            yield Notice(job.at("plugins").key(name), f"kubectl drops null values: write `{name}: []`")


@rule("plugins")
def plugins_understand_their_arguments(job: Job[Any], context: Context) -> Iterator[Cause]:
    """Arguments that a plugin does not know would be ignored."""
    yield from requested(job, plugins_of(context))[1]


@rule()
def plugins_can_be_carried_out(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """Each plugin checks whether it can work with the job."""
    imposed = context.settings.plugins
    if not (job.get("plugins") or imposed or asked_of(job)):
        return
    plugins, crew = plugins_of(context), _crew(job, context)
    if (crew.asks or imposed) and (fault := too_large(crew)):
        yield Forbidden(job.at("plugins"), fault)
    for name, arguments in crew.plugins.items():
        yield from plugins[name].check(crew, arguments, job.at("plugins").key(name))


@rule(updates=True)
def plugins_reach_new_pods_only(job: Job[Any], context: Context) -> Iterator[Notice]:
    """Plugins apply when a pod is created: a change does not affect existing pods."""
    before, after = (written_plugins(job.kind, document) for document in (context.old or {}, job.document))
    for name in {**before, **after}:
        verb = "removed" if name not in after else "added" if name not in before else "changed"
        if verb != "changed" or (before[name] or None) != (after[name] or None):
            text = f"{verb} for new pods only: existing pods and keys stay as they are"
            yield Notice(job.at("plugins").key(name), text)


@rule("plugins")
def derived_objects_have_legal_names(job: Job[Any], context: Context) -> Iterator[Cause]:
    """Objects named after the job need legal names."""
    plugins, crew = plugins_of(context), _crew(job, context)
    derived = [each for name, arguments in crew.plugins.items() for each in plugins[name].derived(crew, arguments)]
    yield from derived_names(derived, context)


def derived_names(derived: Iterable[Derived], context: Context) -> Iterator[Cause]:
    """Yield why the names that are derived from a job's name would be invalid."""
    derived, name = list(derived), expected_name(context)
    if not name or not derived:
        return
    path, written = name_path(context), context.name or context.generate_name
    prefix = name[:LABEL_LIMIT].rstrip("-") or name
    for each in derived:
        if fault := each.fault_of(prefix):
            yield Invalid(path, written, f"{fault}: {_derivation(each)}")
            break
    longest = max(derived, key=lambda each: each.extra)
    limit = LABEL_LIMIT - longest.extra
    if len(name) > limit:
        limit -= 0 if context.name else len(GENERATED_SUFFIX)
        detail = f"{_derivation(longest)}, which may have at most {LABEL_LIMIT} characters"
        yield TooLong(path, written, limit, detail)


def _derivation(derived: Derived) -> str:
    return f"{derived.maker} creates a {derived.thing} named {derived.name}"


#: The rules, in the order of the documentation; for kinds whose operator has no plugins of its own.
plugin_rules: tuple[Rule, ...] = (
    plugins_are_known,
    plugins_are_not_dropped_on_the_way,
    plugins_understand_their_arguments,
    plugins_can_be_carried_out,
    plugins_reach_new_pods_only,
    derived_objects_have_legal_names,
)
