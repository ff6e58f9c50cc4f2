"""Linux's own congestion controls, from a source tree: what each is known for, and ours."""
