"""The official `openai` client for JavaScript, unmodified (C01); needs node and `npm ci` in tests/chat/javascript."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from agents.models import Agent
from tests.stub_server import Script
from tests.test_architecture import ROOT

FOLDER = ROOT / "tests" / "chat" / "javascript"
NODE = shutil.which("node")


@pytest.mark.skipif(
    not NODE or not (FOLDER / "node_modules" / "openai").exists(), reason="no node, or no `npm ci` in the folder"
)
@pytest.mark.django_db(transaction=True)
def test_c01_the_official_javascript_client_works_with_only_a_base_url(
    live_server: Any, talker: Agent, key: str, model_server: Script
) -> None:
    model_server.answers = ["Good day to you."]
    done = subprocess.run(
        [str(NODE), "client.mjs"],
        cwd=FOLDER,
        env={**os.environ, "BASE_URL": f"{live_server.url}/v1", "API_KEY": key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "models": ["acme/guide", "acme/talker"],
        "whole": "Good day to you.",
        "requestId": True,
        "streamed": "Good day to you.",
        "tokens": 0,  # the scripted server counts none in a stream
        "helper": "Good day to you.",
        "replayed": True,
        "errors": [["NotFoundError", "model_not_found", "model"], ["BadRequestError", "unsupported_value", "n"]],
    }
