"""Runs JobFlows: creates their Volcano Jobs in order, and reports on them. `plan` is pure; `reconciler` acts."""
