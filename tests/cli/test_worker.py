"""Which queues a worker takes from."""

from typer.testing import CliRunner

from api.cli.main import app


def test_a_queue_that_is_not_there_is_refused_with_those_that_are():
    refused = CliRunner().invoke(app, ["worker", "--queues", "bots,nonsense"])

    assert refused.exit_code == 2
    assert "scoring, bots, batch, housekeeping" in " ".join(refused.output.split())
