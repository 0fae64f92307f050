"""A forgotten password, on Django's own views with our texts (I07); says the same whether an account exists or not."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.forms import SetPasswordForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.mail import mail_folder
from accounts.models import User
from accounts.passwords import TooManyAsks, ask_for_reset, reset_password
from accounts.rates import network_of
from accounts.requests import posted


class ForgottenForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponse:
    """Ask for the address and mail a link, if it has an account."""
    form, status = ForgottenForm(posted(request)), 200
    if request.method == "POST" and form.is_valid():
        try:
            ask_for_reset(
                email=form.cleaned_data["email"],
                network=network_of(request),
                link=lambda uid, token: request.build_absolute_uri(reverse("password-reset", args=[uid, token])),
                now=timezone.now(),
            )
        except TooManyAsks:
            form.add_error(None, _("A new password was asked for too often. Try again in an hour."))
            status = 429
        else:
            return HttpResponseRedirect(reverse("password-forgotten-sent"), status=303)
    if status == 200 and form.is_bound and form.errors:
        status = 400
    return render(request, "accounts/forgotten.html", {"form": form}, status=status)


@require_safe
def sent(request: HttpRequest) -> HttpResponse:
    """Say what happens next, the same for everybody."""
    return render(request, "accounts/forgotten_sent.html", {"mail_folder": mail_folder()})


class NewPasswordForm(SetPasswordForm[User]):
    """Asks for the new password twice; the service writes it and records that."""

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.fields["new_password1"].label = _("New password")
        self.fields["new_password2"].label = _("New password again")
        self.fields["new_password2"].help_text = ""

    def save(self, commit: bool = True) -> User:
        reset_password(user=self.user, password=self.cleaned_data["new_password1"])
        return self.user


class ResetView(auth_views.PasswordResetConfirmView):
    """Behind the link: the token moves into the session, then the new password is chosen. Ends every sign-in."""

    form_class = NewPasswordForm
    template_name = "accounts/password_reset.html"
    success_url = reverse_lazy("login")

    def get_user(self, uidb64: str) -> User | None:
        user = super().get_user(uidb64)
        return user if isinstance(user, User) and user.is_live else None

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        messages.success(self.request, _("Your new password is set. Sign in with it."))
        return response
