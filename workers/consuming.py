"""What lets a worker take tasks again at once after Redis was gone, or refused writes.

Of kombu's own making: an acknowledgement that fails is logged, and its message counts as being
worked on for ever. With as many of them as there are processes nothing more is asked for, so that
the loss of the connection is not even noticed (see docs/durability.md). And whatever Redis refuses
(OOM, READONLY, NOREPLICAS, MISCONF) ends the worker.
"""

from typing import Any, Final

from celery import Celery
from kombu import Connection
from kombu.transport.redis import Channel, QoS, Transport
from kombu.transport.virtual import QoS as Counted
from redis import Redis
from redis.exceptions import ResponseError

# Between attempts to connect; kombu's own begin with 2 s and end at 30.
FIRST_SECONDS: Final = 0.2
STEP_SECONDS: Final = 0.2
LONGEST_SECONDS: Final = 2.0

PROBE: Final = "ringmaster:broker-probe"


def probe(broker: Redis) -> None:
    """Write to the broker what is gone at once.

    Raises: redis.exceptions.RedisError, if it takes no writes.
    """
    broker.set(PROBE, "", px=1)


class ForgivingQoS(QoS):
    """Counts a message as done whose acknowledgement failed; it comes again, and does nothing."""

    def ack(self, delivery_tag: str) -> None:
        try:
            super().ack(delivery_tag)
        except Exception:
            Counted.ack(self, delivery_tag)
            raise

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        try:
            super().reject(delivery_tag, requeue)
        except Exception:
            Counted.ack(self, delivery_tag)
            raise

    def restore_unacked(self, client: Any = None) -> None:
        """Give back what was not acknowledged; what fails comes again by itself."""
        try:
            super().restore_unacked(client)
        except Transport.connection_errors:  # or the channel would not be closed to its end
            if self._delivered:
                self._delivered.clear()


class PromptConnection(Connection):
    """Connects again soon, to a Redis that takes writes."""

    def _ensure_connection(self, *args: Any, **more: Any) -> Any:
        waits = {
            "interval_start": FIRST_SECONDS,
            "interval_step": STEP_SECONDS,
            "interval_max": LONGEST_SECONDS,
        }
        return super()._ensure_connection(*args, **{**waits, **more})

    def _establish_connection(self) -> Any:
        """Connect, unless writes are refused: a message taken then would be lost."""
        transport = super()._establish_connection()
        with transport.create_channel(transport) as channel, channel.conn_or_acquire() as client:
            probe(client)
        return transport


def consume_again(app: Celery) -> None:
    """Let the consumer of this process outlive Redis."""
    Channel.QoS = ForgivingQoS
    # A refusal is as good as a loss: connect again until writes are taken.
    Transport.connection_errors = (*Transport.connection_errors, ResponseError)
    app.amqp.Connection = PromptConnection
