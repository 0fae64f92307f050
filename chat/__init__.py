"""The turn: context, prompt, model call, API and pages."""
