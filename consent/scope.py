"""The scope of memory, as plain values: organization, user and agent."""

import uuid
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory with which agent (F02). Enough for listing and deleting; not enough for prompts and writes."""

    organization_id: uuid.UUID
    user_id: uuid.UUID
    agent_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class ConsentedScope:
    """A scope whose gate stood open: made by `consent.gate` only.

    `epoch` is that of the consent row; what was received before `granted_at` is none of extraction's business.
    """

    scope: Scope
    epoch: int
    granted_at: datetime
