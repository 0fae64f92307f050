"""The write pipeline: from final messages to candidates to facts."""
