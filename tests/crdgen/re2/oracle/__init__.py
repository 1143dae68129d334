"""What Go makes of patterns that are put together at random from what its syntax has, and what it has not."""
