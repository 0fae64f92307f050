"""Append-only events with copied ids: who did what to whom, never what was said."""
