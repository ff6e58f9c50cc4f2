"""Linux's own algorithms, from a source tree: what each is known for, and ours."""
