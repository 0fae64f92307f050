"""The transcript: sessions, participants, turns and messages."""
