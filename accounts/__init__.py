"""Users, organizations, memberships and API keys: who somebody is."""
