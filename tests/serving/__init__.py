"""Tests of the programs beside the webhook server."""
