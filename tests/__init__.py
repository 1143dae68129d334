"""Mirrors the packages; `controlplane` builds and runs a real Kubernetes control plane."""
