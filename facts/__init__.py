"""The fact store: sealed facts of one scope, the Memory tab and the prompt block."""
