"""Takes the queue's own pages out of the admin: whoever may add a Schedule there runs any importable function."""

from django.contrib import admin
from django_q.models import Failure, OrmQ, Schedule, Success

for model in (Failure, OrmQ, Schedule, Success):
    if admin.site.is_registered(model):
        admin.site.unregister(model)
