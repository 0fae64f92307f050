"""Signs of life of the background work."""

from django.db import models


class Heartbeat(models.Model):
    """When a part of the background work last showed that it is alive."""

    name = models.CharField(primary_key=True, max_length=32)
    at = models.DateTimeField()
