# $name

The package `$package` gives jobgate the kind `$name` of `$group/$version`. Written by `jobgate new kind`.

| file | contents |
|---|---|
| `$package/models.py` | the shape: fields, types, constant defaults, bounds of single fields |
| `$package/rules.py` | other defaults, and checks across fields and of updates |
| `$package/__init__.py` | the kind: what binds them |
| `examples/` | objects to apply; those in `denied/` are denied |
| `tests/` | a table of verdicts, properties of all examples, and the same on a real API server |

In an environment that has `jobgate-testing`, which brings jobgate:

```sh
pip install --editable ".[dev]"                     # jobgate finds it by its entry point
jobgate kinds                                       # what is installed, and from where
jobgate review examples                             # without a cluster
pytest                                              # the first run builds a control plane, which takes some minutes
jobgate crdgen generate $package.models:RESOURCE    # the CRD
jobgate manifests | kubectl apply --server-side -f -    # jobgate with its CRD and webhooks
docker build --build-arg JOBGATE=jobgate:$jobgate --tag $package .    # the image of the server, with this package
```
