"""What the dashboard is told by its server: pages, data, events, and who gets them."""

import contextlib
import gc
import itertools
import re
import signal
import subprocess
import sys
import threading
import time
import weakref

import httpx
import numpy as np
import pytest

import unimodal as um
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.log_reader import LogReader
from unimodal.campaigns.log_start import LogStart
from unimodal.campaigns.simulated_campaign import simulated_campaign
from unimodal.inspection import timeline
from unimodal.service.campaigns.catalog import FolderCatalog
from unimodal.service.campaigns.followed_logs import FollowedLogs
from unimodal.service.dashboard import findings
from unimodal.service.dashboard.findings import Pace
from unimodal.service.dashboard.log_parts import MOST
from unimodal.service.dashboard.log_summary import LogSummary, ages
from unimodal.service.dashboard.watched import Watched
from unimodal.service.security import token_file, tokens

LADDER = {"edges": [["9.90", "12.90"], ["12.90", "14.90"], ["14.90", "19.90"]]}


def campaign(http, name, decisions=30, **body):
    made = http.post("/v1/campaigns", json={"name": name, "graph": LADDER, "seed": 4, **body})
    assert made.status_code == 201, made.text
    if decisions:
        http.post(f"/v1/campaigns/{name}/decisions", json={"n": decisions})
    return name


# Pages.


def test_pages_let_a_browser_run_nothing_but_our_own_scripts(service, http):
    campaign(http, "pages")
    for path in ("/", "/campaigns/pages"):
        answer = httpx.get(service.url + path)
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert not re.search(r"<style|style=|<script(?![^>]* src=)|\bon\w+=|https?://", answer.text)
        for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text):
            file = http.get(address)
            assert file.status_code == 200
            assert "immutable" in file.headers["cache-control"]


@pytest.mark.parametrize(
    "path", ["%2e%2e/pages.py", "..%2fpages.py", "uplot/LICENSE", "%00", "/etc/passwd"]
)
def test_nothing_else_is_a_static_file(http, path):
    assert http.get(f"/static/0/{path}").status_code == 404


def test_a_campaign_that_is_not_there(http):
    for name in ("nobody", "<b>", "%2e%2e"):
        answer = http.get(f"/campaigns/{name}")
        assert answer.status_code == 404
        assert "<b>" not in answer.text.replace("<bdi>", "")
    assert http.get("/dashboard/campaigns/nobody").status_code == 404


@pytest.fixture(scope="module")
def guarded(serving, tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    wanted = {"admin": [], "read": ["mine"], "decide": []}
    made = {role: tokens.make(role, [role], names) for role, names in wanted.items()}
    token_file.write(folder / "tokens.json", [kept for _, kept in made.values()])
    secrets = {role: text for role, (text, _) in made.items()}
    with serving(folder, folder / "tokens.json", secrets["admin"]) as served:
        for name in ("mine", "theirs"):
            campaign(served.http, name)
        yield served, secrets


@contextlib.contextmanager
def session(guarded, role):
    served, secrets = guarded
    with httpx.Client(base_url=served.url, timeout=20) as http:
        assert http.post("/session", json={"token": secrets[role]}).status_code == 200
        yield http


def test_without_a_session_a_page_leads_to_signing_in(guarded):
    with httpx.Client(base_url=guarded[0].url) as http:
        answer = http.get("/campaigns/mine")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/sign-in?then=/campaigns/mine"
        for path in (
            "/dashboard/campaigns",
            "/dashboard/events",
            "/dashboard/campaigns/mine/events",
        ):
            assert http.get(path).status_code == 401


@pytest.mark.parametrize("then", ["//elsewhere.example", "https://elsewhere.example", '/x"><b>'])
def test_signing_in_leads_to_pages_of_this_service_only(guarded, then):
    with httpx.Client(base_url=guarded[0].url) as http:
        answer = http.get("/sign-in", params={"then": then})
        assert 'data-then="/"' in answer.text


def test_a_token_sees_its_campaigns_only(guarded):
    with session(guarded, "read") as http:
        rows = http.get("/dashboard/campaigns").json()["campaigns"]
        assert [row["name"] for row in rows] == ["mine"]
        assert http.get("/campaigns/mine").status_code == 200
        assert http.get("/campaigns/theirs").status_code == 403
        assert http.get("/dashboard/campaigns/theirs").status_code == 403
        assert "End the campaign" not in http.get("/campaigns/mine").text
    with session(guarded, "decide") as http:
        assert http.get("/").status_code == 403
    with session(guarded, "admin") as http:
        assert "End the campaign" in http.get("/campaigns/mine").text


def test_without_tokens_a_page_has_a_session_whose_changes_need_its_csrf_token(service):
    with httpx.Client(base_url=service.url) as http:
        campaign(http, "csrf", 0)
        assert "HttpOnly" in http.get("/").headers["set-cookie"]
        change = {"url": "/v1/campaigns/csrf/pause", "json": {"arms": ["9.90"]}}
        assert http.post(**change).status_code == 403
        csrf = http.get("/session").json()["csrf"]
        assert http.post(**change, headers={"X-CSRF-Token": csrf}).status_code == 200


# Data.


def test_a_log_that_is_read_in_pieces_is_summed_as_one_that_is_read_at_once():
    problem = um.problems.triangular(7)
    recorded = simulated_campaign(um.UTS(), problem, rounds=2_000, seed=3, at_once=5)
    history = recorded.history()
    rows = list(history.select("seq", "time", "kind", "decision", "arm", "reason", "leader", "near",
                               "propensity", "reward", "data").iter_rows())  # fmt: skip
    whole, pieces = LogSummary(), LogSummary()
    whole.take(rows, history["arm"].to_list())
    for first in range(0, len(rows), 77):
        some = slice(first, first + 77)
        pieces.take(rows[some], history["arm"][some].to_list())
    for log in (whole, pieces):
        assert log.rewards == 2_000
        assert log.total == history["reward"].sum()
        assert [one.id for one in log.decisions] == list(range(1_989, 2_001))
        assert len(log.parts.parts) <= MOST
        assert sum(part.rewards for part in log.parts.parts) == 2_000
        assert sum(sum(part.leaders.values()) for part in log.parts.parts) == (
            history["leader"].drop_nulls().len()
        )
        changes, _ = timeline.path(history)
        assert log.leader_changes == changes
        assert log.leader == str(recorded.agent.leader)
    assert pieces.parts.rewards(80, 150) == whole.parts.rewards(80, 150)


def test_the_interval_of_a_part_is_that_of_its_rewards():
    log, rewards = LogSummary(), np.random.default_rng(1).normal(3.0, 2.0, 1_000)
    log.take(
        [
            (i + 1, float(i), "tell", None, "a", None, None, None, None, reward, None)
            for i, reward in enumerate(rewards.tolist())
        ],
        ["a"] * 1_000,
    )
    told = log.parts.rewards(1, 1)
    assert len(told["mean"]) == 1
    assert told["mean"][0] == pytest.approx(rewards.mean())
    assert told["error"][0] == pytest.approx(1.96 * rewards.std(ddof=1) / np.sqrt(1_000))


def test_rewards_count_what_they_are_worth(tmp_path):
    ladder = um.graphs.from_edges([("2", "4"), ("4", "8")])
    family = um.Scaled(um.Bernoulli(), by=float)
    file = tmp_path / "worth.db"
    with um.Campaign.open(file, um.UTS(), ladder, family, seed=1) as opened:
        opened.tell(["2", "8", "8"], [1.0, 1.0, 0.0])
    reader = LogReader(also=LogSummary)
    reader.follow(file)
    log = reader.also
    assert log.total == 10.0 and log.rate() == pytest.approx(10 / 3)


def test_outstanding_decisions_by_age_and_decisions_of_today():
    log, facts, now = LogSummary(), LogFacts(), 20_000 * 86_400.0 + 7_200.0  # two o'clock
    times = [now - age for age in (5, 30, 90, 4_000, 10_000, 200_000)]
    rows = [
        (i + 1, moment, "decide", i + 1, "a", "contest", "a", 1, None, None, None)
        for i, moment in enumerate(sorted(times))
    ]
    log.take(rows, facts.take(rows))
    assert ages(facts, now) == ([2, 1, 0, 2, 0, 1], 200_000.0)
    assert log.today(now) == 4  # the two oldest were made before midnight
    facts.take([(7, now, "reward", 1, None, None, None, None, None, 1.0, None)])
    assert ages(facts, now) == ([2, 1, 0, 2, 0, 0], 10_000.0)
    old = LogFacts(start=LogStart(9, 5, ((2, "a"),)))  # which was open before the log
    assert ages(old, now) == ([0, 0, 0, 0, 0, 1], None)


def test_only_what_has_changed_is_sent(http):
    name = campaign(http, "changed")
    first = http.get(f"/dashboard/campaigns/{name}").json()
    assert first["figures"]["decisions"] == 30 and first["arms"]["kind"] == "ladder"
    have = ".".join(first[title]["digest"] for title in ("arms", "over_time"))
    again = http.get(f"/dashboard/campaigns/{name}", params={"have": have}).json()
    assert "arms" not in again and "over_time" not in again
    http.post(
        f"/v1/campaigns/{name}/observations", json={"rewards": [{"arm": "9.90", "reward": 1}]}
    )
    time.sleep(0.6)  # what was read a moment ago is not read again
    then = http.get(f"/dashboard/campaigns/{name}", params={"have": have}).json()
    assert then["arms"]["arms"][0]["pulls"] == 1


def watched_in(folder):
    return Watched("prices", FollowedLogs(FolderCatalog(folder), LogSummary).of("prices"))


def test_nothing_of_a_lost_history_is_shown(tmp_path):
    """The store was set back, and has as many events as before, but others."""
    path = tmp_path / "prices.db"
    watched = watched_in(tmp_path)
    for reward in (1.0, 0.0):
        path.unlink(missing_ok=True)
        with um.Campaign.open(path, um.UTS(), um.graphs.line(3), durability="fast") as one:
            one.tell([0, 1], [reward, reward])
        before = watched.version, watched.summary
        watched.arms_of = 3
        for _ in range(2):  # the second time it is the same
            watched._read()
            assert watched.facts.seq == 3 and watched.facts.kinds["tell"] == 2
    assert watched.version > before[0] and watched.summary is not before[1]
    assert list(watched.summary._recent) == [0.0, 0.0] and watched.arms_of == -1


def test_nothing_is_shown_of_a_log_while_it_is_being_read(tmp_path):
    """Else a dictionary would change its size while somebody adds it up."""
    one, shown = watched_in(tmp_path), []
    thread = threading.Thread(target=lambda: shown.append(one.view(lambda it: it.name)))
    with one.log.lock:
        thread.start()
        thread.join(0.1)
        assert not shown
    thread.join()
    assert shown == ["prices"]


def test_a_damaged_campaign_is_listed_with_its_sentence(serving, tmp_path):
    (tmp_path / "broken.db").write_bytes(b"no database" * 100)
    with serving(tmp_path) as served:
        campaign(served.http, "sound")
        rows = {
            row["name"]: row for row in served.http.get("/dashboard/campaigns").json()["campaigns"]
        }
        assert rows["sound"]["problem"] is None and rows["sound"]["decisions"] == 30
        assert rows["broken"]["problem"]
        assert served.http.get("/campaigns/broken").status_code == 200
        told = served.http.get("/dashboard/campaigns/broken").json()
        assert told["figures"]["problem"]


def test_a_campaign_without_decisions(http):
    empty = http.get(f"/dashboard/campaigns/{campaign(http, 'empty', 0)}").json()
    assert empty["figures"]["decisions"] == 0 and empty["arms"]["kind"] == "ladder"
    assert http.get("/dashboard/campaigns").status_code == 200


@pytest.mark.full  # compiles a policy that looks its graph up
def test_a_campaign_of_look_ups(serving, tmp_path):
    with um.Campaign.open(
        tmp_path / "walk.db", um.ScoutUTS(), lambda x: (x - 1, x + 1), root=0, seed=1
    ) as opened:
        made = opened.decide()
        opened.reward(made.id, 1.0)
    with serving(tmp_path) as served:
        walk = served.http.get("/dashboard/campaigns/walk").json()
        assert walk["figures"]["decisions"] == 1


def test_what_waits_is_shown_among_what_is_missing_and_not_said_as_well(tmp_path):
    with um.Campaign.open(tmp_path / "one.db", um.UTS(), um.graphs.line(3), seed=1) as opened:
        for decision in opened.decide(9)[1:]:
            opened.reward(decision.id, 1.0)
    log = FollowedLogs(FolderCatalog(tmp_path), LogSummary).of("one")
    certificate, alarms = log.read(findings.found_in)
    assert certificate["missing"][1]["waiting"] == 8 and alarms == []
    assert not any("wait" in sentence for sentence in certificate["sentences"])


def test_the_log_of_a_campaign_is_read_once_for_all_who_ask(tmp_path):
    with um.Campaign.open(tmp_path / "one.db", um.UTS(), um.graphs.line(3), seed=1) as opened:
        opened.decide(9)
    logs = FollowedLogs(FolderCatalog(tmp_path), LogSummary)
    watched, other = Watched("one", logs.of("one")), logs.of("one")
    watched._read()
    assert watched.facts is other.reader.facts and watched.facts.kinds["decide"] == 9
    assert other.read(lambda agent, facts: (agent.book.made, facts.made)) == (9, 9)
    assert other.reader.beginnings == 1
    logs.keep(["one"])
    known = weakref.ref(other)
    del watched, other
    assert logs.of("one") is known()  # of an open campaign
    logs.keep([])
    gc.collect()
    assert known() is None


def test_what_is_slow_is_done_at_most_a_tenth_of_the_time():
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert pace.is_due(1)
    pace.done(1, seconds=3.0)
    now[0] += 29.0
    assert not pace.is_due(2)
    now[0] += 2.0
    assert pace.is_due(2) and not pace.is_due(1)  # nothing new came


def test_explanations_that_take_long_come_one_by_one_the_newest_first(monkeypatch):
    log, spent = LogSummary(), [0.0]
    log.take(
        [(i, 0.0, "decide", i, "a", "contest", "a", 1, None, None, None) for i in range(1, 11)],
        ["a"] * 10,
    )

    def slow(address, decision):
        spent[0] += 0.6
        return {"because": "slow", "columns": [], "rows": []}

    monkeypatch.setattr(findings, "_explained", slow)
    monkeypatch.setattr(findings.time, "thread_time", lambda: spent[0])
    found = findings.CampaignFindings()
    shown = []
    for _ in range(3):
        is_complete = found._find_why("nowhere", list(log.decisions))
        shown.append([one["id"] for one in found.why])
    assert shown == [[10, 9], [10, 9, 8, 7], [10, 9, 8, 7, 6, 5]]
    assert is_complete


# Events.


def test_a_page_is_told_of_news_at_most_once_per_second(service):
    name = campaign(service.http, "stream", 0)
    told = []

    def listen(http):
        with http.stream("GET", f"/dashboard/campaigns/{name}/events") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            for line in answer.iter_lines():
                if line.startswith("event: changed"):
                    told.append(time.monotonic())
                if len(told) == 4:
                    return

    with httpx.Client(base_url=service.url, timeout=20) as http:
        thread = threading.Thread(target=listen, args=(http,))
        thread.start()
        while thread.is_alive():
            service.http.post(f"/v1/campaigns/{name}/decisions")
            time.sleep(0.05)
        thread.join()
    assert all(later - earlier > 0.9 for earlier, later in itertools.pairwise(told))


def test_a_service_that_is_being_stopped_ends_its_streams(serving, tmp_path):
    with serving(tmp_path) as served:
        campaign(served.http, "one")
        with served.http.stream("GET", "/dashboard/events") as answer:
            lines = answer.iter_lines()
            assert next(lines) == "retry: 3000"
            served.app.state.service.stopping = True
            began = time.monotonic()
            for _ in lines:
                pass
            assert time.monotonic() - began < 5
        while served.app.state.dashboard.streams.total():
            assert time.monotonic() - began < 5
            time.sleep(0.01)


def test_sigterm_does_not_wait_for_open_pages(tmp_path):
    code = "from unimodal.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--store", str(tmp_path), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", server.stdout.readline())[0]
        with httpx.stream("GET", f"{url}/dashboard/events", timeout=20) as answer:
            lines = answer.iter_lines()  # kept: the stream is closed with it
            assert next(lines) == "retry: 3000"
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=15) == 0  # it gives what is in flight 30 seconds
    finally:
        server.kill()
        server.communicate()


def test_a_stream_ends_with_its_session(guarded):
    with session(guarded, "read") as http:
        csrf = http.get("/session").json()["csrf"]
        with http.stream("GET", "/dashboard/events") as answer:
            lines = answer.iter_lines()
            assert next(lines) == "retry: 3000"
            with httpx.Client(base_url=guarded[0].url, cookies=http.cookies) as other:
                ended = other.delete("/session", headers={"X-CSRF-Token": csrf})
                assert ended.status_code == 200
            assert "event: signed-out" in list(lines)


NAME = "\u202eSTU\u2066\xad\x1b[31m\U000e0041"


def hidden(data, key=""):
    """Where data have text with characters that are not seen, but for labels that are sent back."""
    if isinstance(data, dict):
        return [place for key, value in data.items() for place in hidden(value, key)]
    if isinstance(data, list):
        return [place for value in data for place in hidden(value, key)]
    unsafe = isinstance(data, str) and any(not letter.isprintable() for letter in data)
    return [key] if unsafe and key != "label" else []


def test_a_policys_name_turns_no_page_around(http):
    """Nor does an arm's: whatever the dashboard is told can be read as it is."""
    edges = [[NAME, "b"], ["b", "c"]]
    name = campaign(http, "named", policy=f"uts(name={NAME!r})", graph={"edges": edges})
    http.post(f"/v1/campaigns/{name}/pause", json={"arms": [NAME]})
    data = http.get(f"/dashboard/campaigns/{name}").json()
    assert data["figures"]["policy"].startswith(r"\u202eSTU\u2066\xad\x1b[31m")
    assert hidden(data) == [] and hidden(http.get("/dashboard/campaigns").json()) == []
    assert http.get(f"/v1/campaigns/{name}").json()["policy"] == NAME  # for programs, as it is
