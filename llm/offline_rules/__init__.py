"""The rules of the offline model: pure text analysis, deterministic, without network, database or clock."""
