"""Kinds of job that others define, described by a few lines of YAML instead of models.

- `entry`: the format of the file; `file`: reads it
- `tasks`: the tasks and fields of an object, as an entry describes them
- `kind`, `schema`, `rules`, `binding`: the kind of an entry, a `JobKind` for which all shared rules work
- `catalogue`: the entries that come with jobgate; it imports the others only if one of them is asked for
- `discover`: a first entry for each CRD with pod templates
"""
