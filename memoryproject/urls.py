"""Every address of the system on one page."""

from django.contrib import admin
from django.urls import path

from accounts import invitation_pages, key_pages, organization_pages, password_pages, settings_pages
from accounts import views as accounts_views
from agents import api as agents_api
from agents import permission_pages, provider_pages
from agents import settings_pages as agent_settings_pages
from agents import views as agents_views
from chat import api as chat_api
from chat import guardrail_pages, operator, triggers
from chat import views as chat_views
from chat.page import STUDIO
from conversations import views as sessions
from extraction import views as extraction_views
from facts import views as facts_views
from lifecycle import audit_pages, health, own_conversations
from lifecycle import organization_pages as lifecycle_organization_pages
from lifecycle import views as lifecycle_views

AGENT = "agents/<slug:organization>/<slug:agent>"
ORGANIZATION = "organizations/<slug:organization>"
IN_STUDIO = {"place": STUDIO}

urlpatterns = [
    path("", accounts_views.home, name="home"),
    path("login/", accounts_views.LoginView.as_view(), name="login"),
    path("logout/", accounts_views.LogoutView.as_view(), name="logout"),
    path("password/forgotten/", password_pages.forgotten, name="password-forgotten"),
    path("password/forgotten/sent/", password_pages.sent, name="password-forgotten-sent"),
    path("password/reset/<uidb64>/<token>/", password_pages.ResetView.as_view(), name="password-reset"),
    path("invitations/<str:token>/", invitation_pages.accept, name="invitation"),
    path("settings/", settings_pages.profile, name="settings"),
    path("settings/password/", settings_pages.password, name="password"),
    path("settings/keys/", key_pages.keys, name="keys"),
    path("settings/keys/<uuid:key>/revoke/", key_pages.revoke, name="key-revoke"),
    path("organizations/", organization_pages.organizations, name="organizations"),
    path("organizations/new/", organization_pages.new, name="organization-new"),
    path(f"{ORGANIZATION}/", organization_pages.members, name="organization"),
    path(f"{ORGANIZATION}/members/<uuid:member>/role/", organization_pages.role, name="organization-role"),
    path(f"{ORGANIZATION}/members/<uuid:member>/remove/", organization_pages.remove, name="organization-remove"),
    path(f"{ORGANIZATION}/leave/", organization_pages.leave, name="organization-leave"),
    path(f"{ORGANIZATION}/transfer/", organization_pages.transfer, name="organization-transfer"),
    path(f"{ORGANIZATION}/invitations/", invitation_pages.page, name="organization-invitations"),
    path(
        f"{ORGANIZATION}/invitations/<uuid:invitation>/resend/",
        invitation_pages.resend,
        name="organization-invitation-resend",
    ),
    path(
        f"{ORGANIZATION}/invitations/<uuid:invitation>/revoke/",
        invitation_pages.revoke,
        name="organization-invitation-revoke",
    ),
    path(f"{ORGANIZATION}/keys/", key_pages.organization_keys, name="organization-keys"),
    path(f"{ORGANIZATION}/keys/<uuid:key>/revoke/", key_pages.organization_revoke, name="organization-key-revoke"),
    path(f"{ORGANIZATION}/agents/", permission_pages.agents, name="organization-agents"),
    path(f"{ORGANIZATION}/agents/new/", permission_pages.new, name="organization-agent-new"),
    path(
        f"{ORGANIZATION}/agents/<slug:agent>/permissions/",
        permission_pages.permissions,
        name="organization-permissions",
    ),
    path("agents/", agents_views.agent_list, name="agents"),
    path(f"{AGENT}/chat/", chat_views.new_chat, name="chat"),
    path(f"{AGENT}/chat/send/", chat_views.send, name="chat-send-first"),
    path(f"{AGENT}/chat/<uuid:session>/", chat_views.session_page, name="chat-session"),
    path(f"{AGENT}/chat/<uuid:session>/send/", chat_views.send, name="chat-send"),
    path(f"{AGENT}/chat/<uuid:session>/stop/", chat_views.stop, name="chat-stop"),
    path(f"{AGENT}/chat/<uuid:session>/turns/<uuid:turn>/", chat_views.turn_piece, name="chat-turn"),
    path(f"{AGENT}/studio/", chat_views.new_chat, IN_STUDIO, name="studio"),
    path(f"{AGENT}/studio/tools/", chat_views.set_tools, name="studio-tools"),
    path(f"{AGENT}/studio/send/", chat_views.send, IN_STUDIO, name="studio-send-first"),
    path(f"{AGENT}/studio/<uuid:session>/", chat_views.session_page, IN_STUDIO, name="studio-session"),
    path(f"{AGENT}/studio/<uuid:session>/send/", chat_views.send, IN_STUDIO, name="studio-send"),
    path(f"{AGENT}/studio/<uuid:session>/stop/", chat_views.stop, IN_STUDIO, name="studio-stop"),
    path(f"{AGENT}/studio/<uuid:session>/turns/<uuid:turn>/", chat_views.turn_piece, IN_STUDIO, name="studio-turn"),
    path(f"{AGENT}/sessions/", sessions.session_list, name="sessions"),
    path(f"{AGENT}/sessions/<uuid:session>/", sessions.session_settings, name="session"),
    path(f"{AGENT}/sessions/<uuid:session>/rename/", sessions.rename, name="session-rename"),
    path(f"{AGENT}/sessions/<uuid:session>/visibility/", sessions.visibility, name="session-visibility"),
    path(f"{AGENT}/sessions/<uuid:session>/add/", sessions.add, name="session-add"),
    path(f"{AGENT}/sessions/<uuid:session>/remove/", sessions.remove, name="session-remove"),
    path(f"{AGENT}/sessions/<uuid:session>/leave/", sessions.leave, name="session-leave"),
    path(f"{AGENT}/sessions/<uuid:session>/delete/", sessions.delete, name="session-delete"),
    path(f"{AGENT}/memory/", facts_views.memory_tab, name="memory"),
    path(f"{AGENT}/memory/history/", facts_views.history, name="memory-history"),
    path(f"{AGENT}/memory/prompt/", facts_views.prompt, name="memory-prompt"),
    path(f"{AGENT}/memory/grant/", facts_views.grant, name="memory-grant"),
    path(f"{AGENT}/memory/withdraw/", facts_views.withdraw, name="memory-withdraw"),
    path(f"{AGENT}/memory/<uuid:fact>/edit/", facts_views.edit, name="memory-edit"),
    path(f"{AGENT}/memory/<uuid:fact>/delete/", facts_views.delete, name="memory-delete"),
    path(f"{AGENT}/extraction/", extraction_views.extraction_page, name="extraction"),
    path(f"{AGENT}/extraction/turns/<uuid:turn>/", extraction_views.turn_line, name="extraction-turn"),
    path(f"{ORGANIZATION}/guardrails/", guardrail_pages.guardrails, name="guardrails"),
    path("operator/sessions/", operator.start, name="operator-start"),
    path("operator/sessions/<uuid:session>/", operator.session_page, name="operator-session"),
    path("operator/sessions/<uuid:session>/stop/", operator.stop, name="operator-stop"),
    path("operator/sessions/<uuid:session>/turns/<uuid:turn>/", operator.turn_piece, name="operator-turn"),
    path("audit/", audit_pages.audit, name="audit"),
    path(f"{ORGANIZATION}/transcripts/", lifecycle_organization_pages.transcripts, name="organization-transcripts"),
    path(f"{ORGANIZATION}/delete/", lifecycle_organization_pages.delete, name="organization-delete"),
    path("settings/conversations/download/", own_conversations.download, name="conversations-download"),
    path(f"{AGENT}/settings/", agent_settings_pages.agent_settings, name="agent-settings"),
    path(f"{AGENT}/delete/", lifecycle_views.delete, name="agent-delete"),
    path("operator/providers/", provider_pages.provider_list, name="providers"),
    path("operator/providers/add/", provider_pages.provider_add, name="provider-add"),
    path("operator/providers/<uuid:provider>/", provider_pages.provider_page, name="provider"),
    path("operator/providers/<uuid:provider>/test/", provider_pages.provider_test, name="provider-test"),
    path("operator/providers/<uuid:provider>/delete/", provider_pages.provider_delete, name="provider-delete"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("v1/chat/completions", chat_api.ChatCompletions.as_view(), name="v1-chat-completions"),
    path("v1/models", agents_api.Models.as_view(), name="v1-models"),
    path("v1/models/<slug:organization>/<slug:agent>", agents_api.Model.as_view(), name="v1-model"),
    path("v1/schema", chat_api.Schema.as_view(), name="v1-schema"),
    path("v1/triggers/<str:surface>", triggers.Triggers.as_view(), name="v1-triggers"),
    path("v1/<path:rest>", chat_api.NotFound.as_view(), name="v1-not-found"),
]

handler400 = "memoryproject.errors.bad_request"
handler403 = "memoryproject.errors.permission_denied"
handler404 = "memoryproject.errors.page_not_found"
handler500 = "memoryproject.errors.server_error"
