"""Starting, checking and ending things: the one app that may know every layer."""
