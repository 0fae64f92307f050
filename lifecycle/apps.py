"""Names the pages of support staff in Django's admin; does nothing when the server starts."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LifecycleConfig(AppConfig):
    name = "lifecycle"
    verbose_name = _("Support")
