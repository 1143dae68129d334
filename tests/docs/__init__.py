"""Tests of what the hand-written pages say."""
