"""The description, and Schemathesis, which calls what it describes.

No answer may be a 5xx, and none undocumented: its status, its type, its headers and its shape.
"""

import contextlib

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyStrategyDefinition, Unsatisfiable
from schemathesis import checks

CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
USUAL = {
    **{"deadline": None, "derandomize": True, "database": None, "phases": [Phase.generate]},
    **{"suppress_health_check": list(HealthCheck)},
}


@pytest.fixture(scope="module")
def schema(service):
    for name in ("prices", "ads"):
        body = {"name": name, "graph": {"edges": [["a", "b"], ["b", "c"], ["c", "d"]]}}
        assert service.http.post("/v1/campaigns", json=body).status_code == 201
    return schemathesis.openapi.from_url(f"{service.url}/openapi.json")


def test_it_is_openapi_3_1_with_examples_and_problems(http):
    described = http.get("/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    assert described["components"]["schemas"]["NewCampaign"]["examples"]
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert operation["operationId"] and operation["summary"]
            if path != "/healthz":
                problem = operation["responses"]["503"]["content"]["application/problem+json"]
                assert problem["schema"]["$ref"].endswith("/Problem")


def call_all(schema, examples):
    """Call every operation with generated requests, valid and not; how many there are."""
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    operations = [found.ok() for found in schema.get_all_operations()]
    for operation in operations:
        for mode in modes:

            @settings(**USUAL, max_examples=examples)
            @given(
                case=operation.as_strategy(generation_mode=mode),
                name=st.sampled_from(["prices", "ads", None]),
            )
            def call(case, name):
                if name and "name" in (case.path_parameters or {}):
                    case.path_parameters["name"] = name  # one that there is
                case.call_and_validate(checks=CHECKS, timeout=60)  # a busy machine is slow

            with contextlib.suppress(Unsatisfiable):  # where nothing can be wrong
                call()
    return len(operations)


def test_every_operation_answers_as_it_is_described(schema):
    assert call_all(schema, 2) == 25


@pytest.mark.full
def test_every_operation_often(schema):
    assert call_all(schema, 150) == 25


def walk(schema, walks, steps):
    """Follow links: a campaign that was made decides, decisions get rewards; how many calls.

    What a walk does next depends on what the service answers, which is not the same the second
    time (a campaign is there already). Hypothesis would have it the same, and may end a walk there.
    """
    machine, calls = schema.as_state_machine(), []

    class Walk(machine):
        def validate_response(self, response, case, *more, **named):
            case.validate_response(response, checks=CHECKS)
            calls.append(response.status_code)

    usual = {**USUAL, "derandomize": False}
    for number in range(walks):
        with contextlib.suppress(FlakyStrategyDefinition):
            seed(number)(Walk).run(
                settings=settings(**usual, max_examples=2, stateful_step_count=steps)
            )
    return len(calls)


def test_links_are_followed(schema):
    assert walk(schema, 2, 6) >= 6


@pytest.mark.full
def test_links_are_followed_far(schema):
    assert walk(schema, 40, 30) >= 400
