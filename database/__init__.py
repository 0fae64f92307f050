"""A library below all apps: how this code base talks to PostgreSQL where Django's own way costs too much."""
