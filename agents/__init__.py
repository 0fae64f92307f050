"""Agents, model providers and object permissions."""
