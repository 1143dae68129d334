"""What all tests share: the control plane."""

pytest_plugins = ["tests.controlplane.fixtures"]
