"""Faults of the API server, etcd, clocks, disks and processes: nothing is lost or duplicated, and jobgate recovers."""
