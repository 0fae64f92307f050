"""Text hygiene and the fixed write-time filter, as pure functions. Knows nothing of Django."""
