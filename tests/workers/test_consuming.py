"""A worker's consumer outlives Redis: with a real broker that is killed."""

from collections.abc import Iterator

import pytest
from celery import Celery
from kombu import Consumer, Queue
from kombu.exceptions import OperationalError

from api import broker
from api.broker import celery_app
from tests.redises import Node, server
from workers.consuming import LONGEST_SECONDS, consume_again


@pytest.fixture
def node(tmp_path) -> Iterator[Node]:
    node = server(tmp_path).start()
    yield node
    node.kill()


@pytest.fixture
def app(node) -> Iterator[Celery]:
    app = celery_app(node.url)
    consume_again(app)
    yield app
    app.close()


@pytest.mark.parametrize("answer", ["ack", "reject"])
def test_a_message_that_cannot_be_answered_is_not_worked_on_for_ever(node, app, answer):
    app.send_task(broker.BOT, args=("m0-aaaaaaaaaaaaaaaa", 1), queue="bots")
    with app.connection_for_read() as connection:
        channel = connection.default_channel
        channel.basic_qos(0, 1, False)
        got = []
        consumer = Consumer(channel, [Queue("bots")], callbacks=[lambda _, m: got.append(m)])
        consumer.consume()
        connection.drain_events(timeout=10)
        assert not channel.qos.can_consume()

        node.kill()
        with pytest.raises((OperationalError, *connection.connection_errors)):
            getattr(got[0], answer)()

        assert channel.qos.can_consume()
        node.start()  # or closing would wait for it


def test_a_broker_that_comes_back_is_found_soon(node, app):
    waits: list[float] = []
    with app.connection_for_read() as connection:
        node.kill()

        def failed(_: Exception, interval: float) -> None:
            waits.append(interval)
            if len(waits) == 4:
                node.start()

        connection.ensure_connection(failed)

    assert len(waits) == 4
    assert max(waits) <= LONGEST_SECONDS
    assert sum(waits) < 3
