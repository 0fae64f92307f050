"""Lets templates set the code of a message as code; marks nothing as safe."""

from django import template

from chat.code_blocks import Part, parts

register = template.Library()


@register.filter
def in_parts(text: str) -> list[Part]:
    """Return the prose and the code blocks of a message, in order."""
    return parts(text)
