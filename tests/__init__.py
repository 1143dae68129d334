"""Mirrors the rooms; `controlplane` builds and runs a real Kubernetes control plane."""
