"""The door through which a member takes her own conversations with her (T04); shows no fact."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import MemberRequest
from conversations.export import export_conversations

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Disposition": 'attachment; filename="conversations.jsonl"',
}


@login_required
@require_safe
def download(request: MemberRequest) -> HttpResponseBase:
    """Stream every conversation that she may open, one message a line; a HEAD reads and records nothing."""
    if request.method == "HEAD":
        return HttpResponse(content_type="application/jsonl", headers=HEADERS)
    return StreamingHttpResponse(export_conversations(request.user), content_type="application/jsonl", headers=HEADERS)
