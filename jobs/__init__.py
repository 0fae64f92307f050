"""Background work: one enqueue function, leases and the worker's supervisor."""
