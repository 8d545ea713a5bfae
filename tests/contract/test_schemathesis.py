"""Schemathesis against the running server: what the schema allows gets an answer of the schema."""

import os
from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "8"))  # `make fuzz` raises it


schema = schemathesis.graphql.from_path(ROOT / "schema" / "schema.graphql")


@pytest.fixture(scope="session")
def token(stack) -> str:
    query = 'mutation { signInAsGuest(name: "Ann") { token } }'
    answer = httpx.post(f"{stack.url}/graphql", json={"query": query})
    return answer.json()["data"]["signInAsGuest"]["token"]


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_answers_what_it_promises(case, stack, token):
    answer = case.call(
        base_url=f"{stack.url}/graphql", headers={"authorization": f"Bearer {token}"}
    )

    assert answer.status_code in (200, 400), answer.text
    codes = {error.get("extensions", {}).get("code") for error in answer.json().get("errors") or ()}
    assert codes <= {
        "UNAUTHENTICATED",
        "FORBIDDEN",
        "INVALID_INPUT",
        "BAD_REQUEST",
        "COST_LIMIT",
        "BAD_USER_INPUT",
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
    }, answer.text
