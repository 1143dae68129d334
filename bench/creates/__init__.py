"""`python -m bench.creates`: what admission adds to a create at a real API server, by webhooks or by policies.

`policies.yaml` has the basic defaults and rules of a DIJob as MutatingAdmissionPolicy and ValidatingAdmissionPolicy.
"""
