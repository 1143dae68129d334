"""Jobs to apply, and the demo that applies them."""
