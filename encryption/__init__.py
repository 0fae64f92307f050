"""Key ring, per-organization keys and the sealed record."""
