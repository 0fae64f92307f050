"""Makes docs/screenshots/*.png: starts the product with demo data on a scratch folder and takes pictures in Chromium.

Run it with `uv run python docs/screenshots.py`.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, Page, sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
PICTURES: Final = ROOT / "docs" / "screenshots"
CHROMIUM: Final = "/usr/bin/chromium"
PATIENCE: Final = 120  # seconds until the product must be up
EMAIL, PASSWORD = "ana@acme.example", "only-for-trying-out"  # of the demo data
AGENT: Final = "/agents/acme/guide"
QUESTION: Final = "Where do I live, and what can't I eat?"
WIDE, NARROW = (1200, 860), (360, 780)
TALL: Final = 1120  # pixels; down to the first facts of the Memory tab
OPERATOR: Final = "olga@ops.example"
MORE: Final = f"""
[[organization]]
slug = "acme"
[[user]]
email = "{OPERATOR}"
name = "Olga"
password = "{PASSWORD}"
staff = true
[[user]]
email = "ada@acme.example"
name = "Ada"
password = "{PASSWORD}"
[[membership]]
organization = "acme"
user = "ada@acme.example"
role = "admin"
[[agent]]
organization = "acme"
slug = "scribe"
name = "Scribe"
provider = "openai"
base_url = "http://127.0.0.1:11434/v1"
model = "llama3.1"
"""
ORGANIZATION: Final = "/organizations/acme"
PEOPLE: Final = "/admin/lifecycle/supportperson/"

type Scheme = Literal["light", "dark"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def product() -> Iterator[str]:
    """Run quickstart on a new data folder, with an administrator and an operator more, until the pictures are taken."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="mp-shots-", ignore_cleanup_errors=True) as folder:
        environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        environment |= {"MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS": "1", "MEMORYPROJECT_DATA_DIR": folder}
        command = [sys.executable, "manage.py", "quickstart", "--port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603
        try:
            wait_for(f"{url}/readyz", process)
            more = Path(folder) / "more.toml"
            more.write_text(MORE)
            for arguments in (["setup", str(more)], ["operator_staff", OPERATOR], ["support_staff", OPERATOR]):
                subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True)  # noqa: S603
            yield url
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            raise SystemExit(f"quickstart ended with {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 (loopback)
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"{url} was not ready after {PATIENCE} seconds")


def sign_in(browser: Browser, url: str, size: tuple[int, int], scheme: Scheme, email: str = EMAIL) -> Page:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{url}/login/")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{url}/agents/")
    return page


def chat(page: Page, url: str) -> str:
    """Ask one question and return the address of its session."""
    page.goto(f"{url}{AGENT}/chat/")
    page.get_by_label("Message to").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator("details.knew").wait_for()
    return page.url


def guard(page: Page, url: str) -> None:
    """Give the organization one rule for messages and one for replies."""
    page.goto(f"{url}{ORGANIZATION}/guardrails/")
    page.get_by_label("Another rule").select_option("input phrases")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("textarea[name='r0-value']").fill("Project Falcon")
    page.get_by_label("Another rule").select_option("output pii")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("[name='r1-kinds']").first.check()
    page.get_by_role("button", name="Save").first.click()
    page.get_by_text("Saved.").wait_for()


def take_the_rest(browser: Browser, url: str, size: tuple[int, int], scheme: Scheme, look: str) -> None:
    """Take the pages of organizations and operators."""
    page = sign_in(browser, url, size, scheme)
    for name, address in (
        ("sessions", f"{AGENT}/sessions/"),
        ("members", f"{ORGANIZATION}/"),
        ("permissions", f"{ORGANIZATION}/agents/guide/permissions/"),
        ("guardrails", f"{ORGANIZATION}/guardrails/"),
    ):
        page.goto(f"{url}{address}")
        page.screenshot(path=PICTURES / f"{name}-{look}.png")
    page.context.close()
    page = sign_in(browser, url, size, scheme, OPERATOR)
    page.goto(f"{url}/operator/providers/")
    page.screenshot(path=PICTURES / f"providers-{look}.png")
    page.goto(f"{url}{PEOPLE}?q={EMAIL}")
    page.get_by_role("link", name=EMAIL).click()
    page.screenshot(path=PICTURES / f"support-{look}.png")
    page.context.close()


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with product() as url, sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        first = sign_in(browser, url, WIDE, "light")
        session = chat(first, url)
        guard(first, url)
        looks: list[tuple[str, tuple[int, int], Scheme]] = [
            ("wide-light", WIDE, "light"),
            ("wide-dark", WIDE, "dark"),
            ("narrow-light", NARROW, "light"),
            ("narrow-dark", NARROW, "dark"),
        ]
        for look, size, scheme in looks:
            page = sign_in(browser, url, size, scheme)
            page.goto(session)
            page.locator("details.knew summary").click()
            page.screenshot(path=PICTURES / f"chat-{look}.png")
            page.set_viewport_size({"width": size[0], "height": TALL})
            page.goto(f"{url}{AGENT}/memory/")
            page.screenshot(path=PICTURES / f"memory-{look}.png")
            page.context.close()
            if look in ("wide-light", "narrow-dark"):  # two of each are enough to see
                take_the_rest(browser, url, size, scheme, look)
        browser.close()
    total = sum(picture.stat().st_size for picture in PICTURES.glob("*.png"))
    sys.stdout.write(f"{PICTURES}: {total // 1024} KiB\n")


if __name__ == "__main__":
    main()
