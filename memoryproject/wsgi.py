"""The WSGI entry, served by granian."""

import os

import structlog
from django.core.wsgi import get_wsgi_application

from consent.apps import check_kill_switch

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
application = get_wsgi_application()
for warning in check_kill_switch():
    structlog.get_logger(__name__).warning("kill_switch_unreadable", code=warning.id)
