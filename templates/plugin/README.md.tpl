# $name

The package `$package` gives the pods of jobs the plugin `$name`. Written by `jobgate new plugin`.

| file | contents |
|---|---|
| `$package/__init__.py` | the plugin: its arguments, what it checks, what it adds to a pod |
| `tests/` | verdicts on jobs that request it, and their pods |

In an environment that has `jobgate-testing`, which brings jobgate:

```sh
pip install --editable ".[dev]"                     # jobgate finds it by its entry point
jobgate kinds                                       # what is installed, and from where
pytest
docker build --build-arg JOBGATE=jobgate:$jobgate --tag $package .    # the image of the server, with this package
```

A job requests it with `spec.plugins`: `{$name: ["--directory=/data"]}`.
