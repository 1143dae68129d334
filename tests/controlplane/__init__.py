"""The control plane itself: that it starts, does what tests ask of it, and leaves nothing behind."""
