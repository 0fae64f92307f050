"""Every action that may be recorded, with a sentence for people; names no row and decides nothing."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Dotted: GROUP.ACT. An action that is recorded anywhere stands here, one line each.
ACTIONS: Final[dict[str, Promise]] = {
    "agent.create": _("An agent was created."),
    "agent.delete": _("An agent was deleted."),
    "agent.update": _("An agent's configuration was changed."),
    "api_key.create": _("An API key was created."),
    "api_key.revoke": _("An API key was revoked."),
    "consent.grant": _("Memory was turned on for an agent."),
    "consent.withdraw": _("Memory was turned off for an agent."),
    "conversation.download": _("A member downloaded her own conversations."),
    "fact.delete": _("A fact was deleted."),
    "fact.edit": _("A fact was edited."),
    "fact.expire": _("Facts reached their end and are no longer used."),
    "fact.record": _("Facts were learned from a conversation."),
    "guardrail.update": _("An organization's guardrails were changed."),
    "invitation.accept": _("An invitation was accepted."),
    "invitation.create": _("Somebody was invited to an organization."),
    "invitation.resend": _("An invitation was sent again."),
    "invitation.revoke": _("An invitation was revoked."),
    "member.remove": _("A member was removed from an organization."),
    "member.set": _("A member was added to an organization, or given another role."),
    "memory.delete": _("A memory was deleted by support staff."),
    "memory.wipe": _("Facts and consent of a deleted subject were wiped."),
    "memory.wipe_failed": _("A wipe failed; the nightly job tries again."),
    "operator.grant": _("The right to set up model providers was given."),
    "operator.revoke": _("The right to set up model providers was taken away."),
    "organization.create": _("An organization was created."),
    "organization.delete": _("An organization was deleted."),
    "organization.destroy_keys": _("The keys of an organization were destroyed."),
    "organization.set_transcripts": _("How long an organization keeps conversations was changed."),
    "organization.transfer": _("An organization was handed to another owner."),
    "permission.grant": _("A permission on an agent was given."),
    "permission.revoke": _("A permission on an agent was taken away."),
    "provider.create": _("A model provider was set up."),
    "provider.delete": _("A model provider was deleted."),
    "provider.rotate_key": _("A model provider's key was replaced."),
    "provider.test": _("A model provider was tested."),
    "provider.update": _("A model provider was changed."),
    "retention.delete": _("Old tombstones were removed by the nightly job."),
    "retention.tombstone": _("Facts that were over became tombstones in the nightly job."),
    "retention.transcripts": _("Conversations older than the organization keeps them were deleted."),
    "session.add_participant": _("Somebody was added to a conversation."),
    "session.delete": _("A conversation was deleted."),
    "session.operator_turn": _("An operator wrote in a conversation that belongs to a member."),
    "session.remove_participant": _("Somebody left a conversation or was removed from it."),
    "session.visibility": _("A conversation was made public or private."),
    "support.grant": _("The right to delete subjects was given."),
    "support.revoke": _("The right to delete subjects was taken away."),
    "user.create": _("An account was created."),
    "user.delete": _("An account was deleted."),
    "user.password": _("A password was changed."),
    "user.update": _("An account was changed."),
}

GROUPS: Final[dict[str, Promise]] = {
    "agent": _("Agents"),
    "api_key": _("API keys"),
    "consent": _("Consent"),
    "conversation": _("Conversations"),
    "fact": _("Facts"),
    "guardrail": _("Guardrails"),
    "invitation": _("Invitations"),
    "member": _("Members"),
    "memory": _("Deleted memories"),
    "operator": _("Operators"),
    "organization": _("Organizations"),
    "permission": _("Permissions"),
    "provider": _("Providers"),
    "retention": _("Retention"),
    "session": _("Conversations"),
    "support": _("Support"),
    "user": _("Accounts"),
}


def sentence(action: str) -> str:
    """Return the sentence for an action; one that was recorded by another version of the code is named as it is."""
    return str(ACTIONS.get(action, action))
