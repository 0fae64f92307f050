"""Model clients: one small protocol, an OpenAI-compatible client and an offline one. Knows nothing of Django."""
