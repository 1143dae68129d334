"""Tests of statements in hand-written pages."""
