"""Who may do what at which address: the expectations of the permission matrix, as tables to read.

A new address needs one line in `ROWS`:

    "memory-history": page(GET="agent:read 200"),

Its key is the URL's name; a second line for the same URL takes a word more ("audit organization"), and `*` matches
part of a name. A method is given as "POLICY CODE": CODE is the answer wherever the policy says `ok`. HEAD is GET's, a
method that is not given is refused with 405 (`others` says otherwise). `data` is the body of a POST, `query` the query
string; in both, `{organization}`, `{agent}`, `{session}`, `{fact}` and `{subject}` stand for parts of the object that
is asked for. A new rule about who may needs three lines in `POLICIES`, one for each object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

OBJECTS: Final = ("own", "other", "absent")
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

# Cells: ok; login (led to sign-in); a status. `manager` holds agent:read and agent:manage, the members agent:read and
# agent:update; `admin` administers the organization and holds nothing on the agent; `support` is staff with
# accounts.delete_subject, `staff` without; `stranger` is a member elsewhere; `removed` kept her grants; `deleted` her
# session cookie; `key` is the owner's API key without a cookie. Own, for people with no agent: a row in her name. Their
# sessions are of the chat, so that in Studio (agent:manage) there is none.
POLICIES: Final = """
policy        object  owner colleague manager admin support staff superuser stranger removed deleted key   anonymous
everybody     own     ok    ok        ok      ok    ok      ok    ok        ok       ok      ok      ok    ok
signed-in     own     ok    ok        ok      ok    ok      ok    ok        ok       ok      login   login login
agent:read    own     ok    ok        ok      404   404     404   404       ok       404     login   login login
agent:read    other   404   404       404     404   404     404   404       404      404     login   login login
agent:read    absent  404   404       404     404   404     404   404       404      404     login   login login
agent:update  own     ok    ok        403     404   404     404   404       ok       404     login   login login
agent:update  other   404   404       404     404   404     404   404       404      404     login   login login
agent:update  absent  404   404       404     404   404     404   404       404      404     login   login login
agent:manage  own     403   403       ok      404   404     404   404       403      404     login   login login
agent:manage  other   404   404       404     404   404     404   404       404      404     login   login login
agent:manage  absent  404   404       404     404   404     404   404       404      404     login   login login
session       own     ok    ok        ok      404   404     404   404       ok       404     login   login login
session       other   404   404       404     404   404     404   404       404      404     login   login login
session       absent  404   404       404     404   404     404   404       404      404     login   login login
studio        own     403   403       404     404   404     404   404       403      404     login   login login
studio        other   403   403       404     404   404     404   404       404      404     login   login login
studio        absent  403   403       404     404   404     404   404       403      404     login   login login
fact          own     ok    ok        403     404   404     404   404       ok       404     login   login login
fact          other   404   404       403     404   404     404   404       404      404     login   login login
fact          absent  404   404       403     404   404     404   404       404      404     login   login login
member        own     ok    ok        ok      ok    404     404   404       ok       404     login   login login
member        other   404   404       404     404   404     404   404       404      404     login   login login
member        absent  404   404       404     404   404     404   404       404      404     login   login login
org-owner     own     403   403       403     403   404     404   404       403      404     login   login login
org-owner     other   404   404       404     404   404     404   404       404      404     login   login login
org-owner     absent  404   404       404     404   404     404   404       404      404     login   login login
org-admin     own     403   403       403     ok    404     404   404       403      404     login   login login
org-admin     other   404   404       404     404   404     404   404       404      404     login   login login
org-admin     absent  404   404       404     404   404     404   404       404      404     login   login login
org-agent     own     403   403       403     ok    404     404   404       403      404     login   login login
org-agent     other   404   404       404     404   404     404   404       404      404     login   login login
org-agent     absent  403   403       403     404   404     404   404       403      404     login   login login
founder       own     403   403       403     403   403     403   ok        403      403     login   login login
own-key       own     ok    ok        ok      ok    ok      ok    ok        ok       ok      login   login login
own-key       other   404   404       404     404   404     404   404       404      404     login   login login
own-key       absent  404   404       404     404   404     404   404       404      404     login   login login
subject       own     ok    ok        ok      ok    ok      ok    ok        ok       ok      login   login login
subject       other   404   404       404     404   ok      404   ok        404      404     login   login login
subject       absent  404   404       404     404   ok      404   ok        404      404     login   login login
operate       own     404   404       404     404   404     404   ok        404      404     login   login login
operate       other   404   404       404     404   404     404   ok        404      404     login   login login
operate       absent  404   404       404     404   404     404   404       404      404     login   login login
api           own     401   401       401     401   401     401   401       401      401     401     ok    401
api           other   401   401       401     401   401     401   401       401      401     401     404   401
api           absent  401   401       401     401   401     401   401       401      401     401     404   401
key           own     401   401       401     401   401     401   401       401      401     401     ok    401
staff         own     login login     login   login ok      ok    ok        login    login   login   login login
support       own     login login     login   login ok      403   ok        login    login   login   login login
found         own     login login     login   login ok      403   ok        login    login   login   login login
found         other   login login     login   login ok      403   ok        login    login   login   login login
found         absent  login login     login   login 404     403   404       login    login   login   login login
erasable      own     login login     login   login 403     403   403       login    login   login   login login
erasable      other   login login     login   login ok      403   ok        login    login   login   login login
erasable      absent  login login     login   login 404     403   404       login    login   login   login login
row           own     login login     login   login ok      403   ok        login    login   login   login login
row           other   login login     login   login ok      403   ok        login    login   login   login login
row           absent  login login     login   login 302     403   302       login    login   login   login login
unwritable    own     login login     login   login 403     403   403       login    login   login   login login
unwritable    absent  login login     login   login 302     403   302       login    login   login   login login
row-history   own     login login     login   login ok      403   ok        login    login   login   login login
row-history   other   login login     login   login ok      403   ok        login    login   login   login login
row-history   absent  login login     login   login 302     302   302       login    login   login   login login
superuser     own     login login     login   login 403     403   ok        login    login   login   login login
superuser     other   login login     login   login 403     403   ok        login    login   login   login login
superuser     absent  login login     login   login 403     403   302       login    login   login   login login
history       own     login login     login   login 403     403   ok        login    login   login   login login
history       other   login login     login   login 403     403   ok        login    login   login   login login
history       absent  login login     login   login 302     302   302       login    login   login   login login
app-list      own     login login     login   login 404     404   ok        login    login   login   login login
sign-in       own     302   302       302     302   302     302   302       302      302     ok      ok    ok
staff-sign-in own     ok    ok        ok      ok    302     302   302       ok       ok      ok      ok    ok
no-staff      own     ok    ok        ok      ok    405     405   405       ok       ok      ok      ok    ok
"""


@dataclass(frozen=True, slots=True)
class Row:
    """The expectations for one address: policy and code by method."""

    methods: Mapping[str, str]
    others: str
    data: Mapping[str, object] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    json: bool = False
    asked: tuple[str, ...] = METHODS
    objects: tuple[str, ...] = ()  # without an object in the address or the query there is only "own"

    def expectation(self, method: str) -> tuple[str, int]:
        """Return policy and code; HEAD is answered as GET."""
        policy, code = self.methods.get("GET" if method == "HEAD" else method, self.others).split()
        return policy, int(code)


def _row(options: Mapping[str, Any]) -> Row:
    methods = {name: policy for name, policy in options.items() if name in METHODS}
    return Row(methods, **{name: value for name, value in options.items() if name not in METHODS})


def page(**options: Any) -> Row:
    """A page behind sign-in."""
    return _row({"others": "signed-in 405"} | options)


def anyone(**options: Any) -> Row:
    """An address that needs no sign-in."""
    return _row({"others": "everybody 405"} | options)


def api(**options: Any) -> Row:
    """A route under /v1/: who asks is settled before the method is."""
    return _row({"others": "api 405", "OPTIONS": "key 200", "json": True} | options)


def admin(both: str = "", **options: Any) -> Row:
    """A page of Django's admin, which tells POST from all other methods at most."""
    return _row({"others": "staff 405", "asked": ("GET", "POST"), "GET": both, "POST": both} | options)


SERVER: Final = {"base_url": "http://127.0.0.1:9/v1", "timeout_seconds": "5", "key": "none"}

ROWS: Final[dict[str, Row]] = {
    "home": anyone(GET="everybody 302"),
    "login": anyone(
        GET="sign-in 200", POST="sign-in 200", PUT="sign-in 200", OPTIONS="sign-in 200", others="sign-in 405"
    ),
    "logout": anyone(POST="everybody 302", OPTIONS="everybody 200"),
    "password-forgotten": anyone(GET="everybody 200", POST="everybody 303", data={"email": "ana@acme.example"}),
    "password-forgotten-sent": anyone(GET="everybody 200"),
    "password-reset": anyone(
        GET="everybody 200", POST="everybody 200", PUT="everybody 200", OPTIONS="everybody 200", others="everybody 200"
    ),
    "invitation": anyone(GET="everybody 404", POST="everybody 404"),  # no link is one without its secret
    "settings": page(
        GET="signed-in 200", POST="signed-in 303", data={"name": "Ana", "time_zone": "UTC", "language": "en"}
    ),
    "password": page(GET="signed-in 200", POST="signed-in 400"),
    "keys": page(GET="signed-in 200", POST="signed-in 400"),
    "key-revoke": page(GET="own-key 200", POST="own-key 303"),
    "organizations": page(GET="signed-in 200"),
    "organization-new": page(GET="founder 200", POST="founder 303", data={"name": "New", "slug": "fresh"}),
    "organization": page(GET="member 200"),
    "organization-role": page(GET="org-admin 200", POST="org-admin 303", data={"role": "admin"}),
    "organization-remove": page(GET="org-admin 303", POST="org-admin 303"),
    "organization-leave": page(GET="member 200", POST="member 303"),
    "organization-transfer": page(GET="org-owner 200", POST="org-owner 303"),
    "organization-invitations": page(
        GET="org-admin 200", POST="org-admin 303", data={"email": "new@new.example", "role": "member"}
    ),
    "organization-invitation-resend": page(POST="org-admin 303"),
    "organization-invitation-revoke": page(POST="org-admin 303"),
    "organization-keys": page(GET="org-admin 200"),
    "organization-key-revoke": page(GET="org-admin 200", POST="org-admin 303"),
    "organization-agents": page(GET="org-admin 200"),
    "organization-agent-new": page(
        GET="org-admin 200",
        POST="org-admin 303",
        data={"name": "Fresh", "slug": "fresh", "provider": "offline"},
    ),
    "organization-permissions": page(GET="org-agent 200", POST="org-agent 303"),
    "agents": page(GET="signed-in 200"),
    "chat": page(GET="agent:read 200"),
    "chat-send-first": page(POST="agent:read 303", data={"message": "Hello."}),
    "chat-session": page(GET="session 200"),
    "chat-send": page(POST="session 303", data={"message": "Hello."}),
    "chat-stop": page(POST="session 303", data={"turn": "{session}"}),
    "chat-turn": page(GET="session 200"),
    "studio": page(GET="agent:manage 200"),
    "studio-tools": page(POST="agent:manage 303", data={"enabled": "no"}),
    "studio-send-first": page(POST="agent:manage 303", data={"message": "Hello."}),
    "studio-session": page(GET="studio 200"),
    "studio-send": page(POST="studio 303", data={"message": "Hello."}),
    "studio-stop": page(POST="studio 303", data={"turn": "{session}"}),
    "studio-turn": page(GET="studio 200"),
    "sessions": page(GET="agent:read 200"),
    "session": page(GET="session 200"),
    "session-rename": page(POST="session 303", data={"title": "A title"}),
    "session-visibility": page(POST="session 303", data={"public": "yes"}),
    "session-add": page(POST="session 400", data={"email": "nobody"}),
    "session-remove": page(POST="session 303", data={"user": "{session}"}),
    "session-leave": page(POST="session 403"),  # nobody leaves her own
    "session-delete": page(GET="session 200", POST="session 303"),
    "memory": page(GET="agent:read 200"),
    "memory-grant": page(POST="agent:update 303"),
    "memory-withdraw": page(GET="agent:update 200", POST="agent:update 303"),
    "memory-edit": page(GET="fact 200", POST="fact 303", data={"body": "Lives in Lisbon."}),
    "memory-delete": page(GET="fact 200", POST="fact 303"),
    "memory-history": page(GET="agent:read 200"),
    "memory-prompt": page(GET="agent:read 200"),
    "extraction": page(GET="agent:manage 200"),
    "extraction-turn": page(GET="session 200"),
    "agent-settings": page(GET="agent:manage 200", POST="agent:manage 400"),
    "agent-delete": page(GET="agent:manage 200", POST="agent:manage 400"),
    "guardrails": page(
        GET="org-admin 200",
        POST="org-admin 303",
        data={"refusal": "No.", "restriction": "No.", "version": "0"},
    ),
    "operator-start": page(GET="operate 200", POST="operate 400"),
    "operator-session": page(GET="operate 404", POST="operate 404"),  # one that she started herself: tests/chat
    "audit": page(GET="signed-in 200"),
    "audit organization": page(GET="org-admin 200", query={"organization": "{organization}"}),
    "audit subject": page(GET="subject 200", query={"subject": "{subject}"}),
    "operator-stop": page(POST="operate 404", data={"turn": "{session}"}),  # the same
    "operator-turn": page(GET="operate 404"),  # the same
    "providers": page(GET="operate 200"),
    "provider-add": page(GET="operate 200", POST="operate 303", data=SERVER | {"base_url": "http://127.0.0.1:8/v1"}),
    "provider": page(GET="operate 200", POST="operate 303", data=SERVER),
    "provider-test": page(POST="operate 200", data={"model": "stub-1"}),
    "provider-delete": page(GET="operate 200", POST="operate 303"),
    "organization-transcripts": page(GET="org-admin 200", POST="org-admin 303", data={"days": "90"}),
    "organization-delete": page(GET="org-owner 200", POST="org-owner 400"),
    "conversations-download": page(GET="signed-in 200"),
    "healthz": anyone(others="everybody 200"),
    "readyz": anyone(others="everybody 503"),
    "v1-chat-completions": api(
        POST="api 200",
        data={"model": "{organization}/{agent}", "messages": [{"role": "user", "content": "Hello."}]},
        objects=OBJECTS,
    ),
    "v1-models": api(GET="api 200"),
    "v1-model": api(GET="api 200"),
    "v1-schema": api(GET="key 200"),
    "v1-triggers": api(POST="key 403", others="key 403", OPTIONS="key 403"),  # a key of the other scope
    "v1-not-found": api(others="api 404", OPTIONS="api 404"),
    "admin:index": admin("staff 200"),
    "admin:login": admin(GET="staff-sign-in 200", POST="everybody 200"),
    "admin:logout": admin(GET="no-staff 302", POST="everybody 302"),
    "admin:password_change": admin("staff 200"),
    "admin:password_change_done": admin(GET="staff 200", POST="staff 405"),
    "admin:autocomplete": admin(GET="staff 403", POST="staff 405"),
    "admin:jsi18n": admin(GET="staff 200", POST="staff 405"),
    "admin:view_on_site": admin("staff 404", objects=("absent",)),
    "admin:app_list": admin("app-list 200", objects=("own",)),
    "admin/(?P<url>.*)$": admin("staff 404", objects=("own",)),
    "admin:lifecycle_*_changelist": admin("support 200"),
    "admin:lifecycle_*_add": admin("staff 403"),
    "admin:lifecycle_*_delete": admin("staff 403"),
    "admin:lifecycle_*_history": admin("row-history 200"),
    "admin:lifecycle_support[aop][gre]*_change": admin("found 200"),
    "admin:lifecycle_support[ao][gr]*_erase*": admin(GET="found 200", POST="found 400"),
    "admin:lifecycle_supportperson_erase*": admin(GET="erasable 200", POST="erasable 400"),
    "admin:lifecycle_deletion_change": admin("found 200"),
    "admin:lifecycle_deletion_receipt": admin("found 200"),
    "admin:lifecycle_retentionreport_change": admin(GET="row 200", POST="unwritable 403"),
    "admin:lifecycle_supportevent_change": admin(GET="row 200", POST="unwritable 403"),
    "admin:lifecycle_supportrun_change": admin(GET="row 200", POST="unwritable 403"),
    "admin:lifecycle_queuehealth_change": admin("support 404"),  # one page, and no rows
    "admin:lifecycle_queuehealth_history": admin("staff 302"),
    "admin:accounts_*_changelist": admin("superuser 200"),
    "admin:accounts_*_add": admin("staff 403"),
    "admin:accounts_*_delete": admin("staff 403"),
    "admin:accounts_*_change": admin("superuser 200"),
    "admin:accounts_*_history": admin("history 200"),
    "admin/*/<path:object_id>/": admin("staff 302", objects=("own",)),
    # Of other packages: groups of staff permissions, and failed sign-ins.
    "admin:a[ux]*_changelist": admin("superuser 200"),
    "admin:auth_group_add": admin("superuser 200"),
    "admin:axes_*_add": admin("staff 403"),
    "admin:a[ux]*_delete": admin("superuser 200", objects=("absent",)),
    "admin:a[ux]*_change": admin("superuser 200", objects=("absent",)),
    "admin:a[ux]*_history": admin("history 200", objects=("absent",)),
}
