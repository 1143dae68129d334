"""`webhook` as a library: the admission webhook of a kind that is no job."""
