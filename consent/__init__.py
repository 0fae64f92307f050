"""The consent row and the gate in front of memory."""
