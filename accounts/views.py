"""Sign-in, sign-out and the way in; Django does the work."""

from django import forms
from django.contrib.auth import views as auth_views
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the agents; sign-in comes between when it must."""
    return redirect("agents")


class SignInForm(AuthenticationForm):
    """Signs in by e-mail address. Its refusal never says whether the address has an account."""

    username = UsernameField(
        label=_("E-mail address"),
        widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )

    def get_invalid_login_error(self) -> forms.ValidationError:
        return forms.ValidationError(
            _("This e-mail address and password do not belong together. Check both and try again."),
            code="invalid_login",
        )


class LoginView(auth_views.LoginView):
    """Sign-in (I01, I06): rotates the session and follows `next` only within this site."""

    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class LogoutView(auth_views.LogoutView):
    """Sign-out, by POST only."""
