"""The steps of docs/guide/service.md, run as they are written; and the parts of the container."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml

import unimodal as um
from unimodal.campaigns.stores import as_place
from unimodal.service.http.models import NewCampaign
from unimodal.service.security.token_file import write
from unimodal.service.security.tokens import make

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "service.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a command `unimodal` in it."""
    folder = tmp_path_factory.mktemp("guide")
    command = folder / "bin" / "unimodal"
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable}\nfrom unimodal.cli import main\nmain()\n")
    command.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def steps(folder):
    """The steps with curl, run by a shell in order; the service runs until the tests are over."""
    for needed in ("bash", "curl"):
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} is not installed: the steps of the guide need it")
    port = free_port()
    script = "\n".join(["set -e -o pipefail", *blocks("sh"), 'echo; echo "TOKEN=$TOKEN PID=$!"'])
    script = script.replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    script = script.replace("unimodal serve", f"unimodal serve --port {port}")
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    out = folder / "out"
    with open(out, "w") as file:
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, stdout=file, timeout=120
        )
    text = out.read_text()
    assert done.returncode == 0, text
    token, process = re.search(r"TOKEN=(\S+) PID=(\d+)", text).groups()
    yield text, f"http://127.0.0.1:{port}", token
    os.kill(int(process), signal.SIGTERM)


def test_the_steps_with_curl(steps):
    text, _, _ = steps
    for words in (
        *('"name": "prices"', '"outcome": "counted"', '"outcome": "refused"', "UnknownDecision"),
        *('"sentence": "Not certified', '"because": "The start pulls', '"alarms": []'),
        *('"kind": "decide"', "unimodal_decisions_total", '"ended": true', '"ended": false'),
    ):
        assert words in text, words
    assert text.count('"outcome": "counted"') == 3


def test_the_step_in_javascript(steps, folder):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the JavaScript of the guide needs it (18 or newer)")
    _, url, token = steps
    (script,) = blocks("js")
    (folder / "step.mjs").write_text(script)
    environment = {**os.environ, "UNIMODAL_URL": url, "UNIMODAL_TOKEN": token}
    done = subprocess.run(
        [node, folder / "step.mjs"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    price, outcome, problem = done.stdout.splitlines()
    assert re.fullmatch(r"show the price \d+\.90", price)
    assert (outcome, problem) == ("counted", "urn:unimodal:error:ConflictingReward")


def test_the_step_in_python(steps):
    _, url, token = steps
    (script,) = blocks("python")
    names = {"token": token}
    exec(script.replace("http://127.0.0.1:8000", url), names)
    assert isinstance(names["decision"], um.Decision)
    names["campaign"]._connection.close()


# The container: what it runs, by its parts.


def instruction(name):
    """The arguments of a list in the Dockerfile."""
    text = re.search(rf"^{name} .*?(\[.*?\])", DOCKERFILE.replace("\\\n", " "), re.MULTILINE)[1]
    return yaml.safe_load(text)


def test_what_the_image_runs_works_without_root_and_its_health_check_finds_it(tmp_path, folder):
    assert re.search(r"^USER unimodal$", DOCKERFILE, re.MULTILINE)
    assert "STOPSIGNAL SIGTERM" in DOCKERFILE
    tokens, port = tmp_path / "tokens.json", free_port()
    unimodal = str(folder / "bin" / "unimodal")
    write(tokens, [make("admin", ["admin"])[1]])
    given = {"/run/tokens.json": str(tokens)}
    command = [given.get(part, part) for part in instruction("ENTRYPOINT") + instruction("CMD")]
    assert "UNIMODAL_STORE=/data/campaigns" in DOCKERFILE
    environment = {**os.environ, "UNIMODAL_STORE": str(tmp_path / "campaigns")}
    assert command[:2] == ["unimodal", "serve"] and "0.0.0.0" in command
    check = [sys.executable, *instruction("HEALTHCHECK")[1:]]
    check[-1] = check[-1].replace("8000", str(port))
    assert subprocess.run(check, stderr=subprocess.DEVNULL, timeout=30).returncode != 0
    with subprocess.Popen(
        [unimodal, *command[1:], "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as server:
        assert f"unimodal serves {tmp_path / 'campaigns'} at" in server.stdout.readline()
        assert subprocess.run(check, timeout=30).returncode == 0
        assert httpx.get(f"http://127.0.0.1:{port}/v1/campaigns").status_code == 401
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


def test_another_user_can_read_the_tokens_after_the_steps_for_a_container(tmp_path, folder):
    """The image has a user of its own, and a new token file is its owner's only."""
    steps = re.findall(
        r"^    ((?:unimodal token|chmod|echo) .*)$", GUIDE.split("## In a container")[1], re.M
    )
    assert [step.split()[0] for step in steps] == ["unimodal", "chmod", "echo", "echo"]
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    for step in steps:
        done = subprocess.run(["bash", "-c", step], cwd=tmp_path, env=environment, timeout=60)
        assert done.returncode == 0, step
    assert (tmp_path / "tokens.json").stat().st_mode & 0o004
    written = dict(line.split("=") for line in (tmp_path / ".env").read_text().split())
    assert len(written["UNIMODAL_SESSION_KEY"]) == 64 and len(written["POSTGRES_PASSWORD"]) == 32
    assert all(step.partition("  #")[0].rstrip() in COMPOSE for step in steps)


COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")


def test_compose_has_a_database_and_two_servers_that_share_it():
    services = yaml.safe_load(COMPOSE)["services"]
    assert set(services) == {"database", "one", "two"}
    one, two = services["one"], services["two"]
    assert one["command"] == two["command"] and one["ports"] != two["ports"]
    assert one["environment"]["UNIMODAL_STORE"].endswith("@database/campaigns")
    assert one["environment"] == two["environment"]  # the key of sessions is shared
    assert one["depends_on"]["database"]["condition"] == "service_healthy"
    assert "pg_isready" in services["database"]["healthcheck"]["test"][1]


def test_compose_tells_no_password_to_other_users_of_the_machine():
    """Not on a command line; and the address that a server takes has none in it."""
    for name, service in yaml.safe_load(COMPOSE)["services"].items():
        lines = [service.get(part) for part in ("command", "entrypoint", "healthcheck")]
        assert "PASSWORD" not in str(lines) and "SESSION_KEY" not in str(lines), name
    given = yaml.safe_load(COMPOSE)["services"]["one"]["environment"]
    address = as_place(f"{given['UNIMODAL_STORE']}?campaign=a", "it")
    assert str(address) == f"{address.conninfo}?campaign=a"  # there is nothing to leave out
    assert "$" not in given["UNIMODAL_STORE"] and given["PGPASSWORD"].startswith("${POSTGRES_PASS")


def test_compose_publishes_on_this_machine_only_and_gives_no_rights_that_are_not_needed():
    for name, service in yaml.safe_load(COMPOSE)["services"].items():
        for port in service.get("ports", []):
            assert re.fullmatch(r"127\.0\.0\.1:\d+:8000", port)
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"] and "cap_add" not in service
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert not {"privileged", "network_mode", "pid", "devices"} & set(service)
        assert "/tmp" in service["tmpfs"]
    guide = GUIDE.split("## In a container")[1]
    for text in (DOCKERFILE, COMPOSE, guide):  # nor does an example of ours
        assert not re.search(r"-p \d+:\d+", text)


def test_the_image_has_what_the_lock_file_names_by_its_hashes():
    text = DOCKERFILE.replace("\\\n", " ")
    fetching = [line for line in text.splitlines() if re.search(r"\bpip\b", line)]
    assert len(fetching) == 2 and not re.search(r"\bsed\b|constraints|\bcurl\b|\bwget\b", text)
    download, install = fetching
    assert "--require-hashes" in download and "--no-deps" in download
    assert "-r requirements.lock" in download
    assert "--no-index" in install and "--find-links /wheels" in install
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for package in re.split(r"\n(?=[a-z0-9])", lock):
        assert "--hash=sha256:" in package
    assert "hatchling==" in lock  # which builds what is installed


def test_the_image_warms_the_policy_that_a_campaign_has_by_default():
    warmed = re.search(r"unimodal warm (\S+) --family (\S+)", DOCKERFILE)
    default = NewCampaign.model_fields
    assert um.policies.parse(warmed[1]) == um.policies.parse(default["policy"].default)
    assert warmed[2] == default["family"].default


def test_what_is_secret_is_neither_committed_nor_copied_into_an_image(tmp_path):
    shutil.copy(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True, timeout=30)
    secret = [".env", "tokens.json", "deploy/.env", "deploy/tokens.json"]
    done = subprocess.run(
        ["git", "-C", tmp_path, "check-ignore", *secret], capture_output=True, text=True, timeout=30
    )
    assert done.stdout.split() == secret
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert ignored[0] == "*" and {"**/.env", "**/tokens.json"} <= set(ignored)
    assert max(map(ignored.index, ("**/.env", "**/tokens.json"))) == len(ignored) - 1


def test_what_is_copied_into_the_image_is_there():
    for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists()
            assert f"!{name}" in (ROOT / ".dockerignore").read_text()


def test_who_leads_is_as_the_guide_says(http):
    """PeakUTS has a leader from its second decision on; UTS when every arm was shown once."""
    said = (
        "PeakUTS has a leader from its second decision on; policies that sweep, such as UTS, when"
    )
    assert said in " ".join(GUIDE.split())
    for policy, first in (("peakuts", 2), ("uts", 6)):
        path, body = f"/v1/campaigns/leads-{policy}", {"graph": {"generator": "line:5"}, "seed": 1}
        body |= {"name": f"leads-{policy}", "policy": policy}
        assert http.post("/v1/campaigns", json=body).json()["leader"] is None
        leaders = []
        for _ in range(7):
            (made,) = http.post(f"{path}/decisions").json()["decisions"]
            http.post(f"{path}/rewards", json={"decision": made["id"], "reward": 1})
            leaders.append(http.get(path).json()["leader"])
        assert [leader is not None for leader in leaders] == [n >= first for n in range(1, 8)]
