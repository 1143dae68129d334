name: test
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v5.1.0
    - uses: actions/setup-python@ece7cb06caefa5fff74198d8649806c4678c61a1 # v6.3.0
      with: {python-version: "3.13"}
    # The control plane of the tests, which is built once.
    - uses: actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830 # v4.3.0
      with: {path: ~/.cache/jobgate, key: "controlplane-$jobgate"}
    - run: pip install --editable ".[dev]"
    - run: jobgate kinds
    - run: ruff format --check . && ruff check . && mypy
    - run: pytest
