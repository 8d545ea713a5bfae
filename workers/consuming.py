"""What lets a worker take tasks again at once after Redis was gone.

Of kombu's own making: an acknowledgement that fails is logged, and its message counts as being
worked on for ever. With as many of them as there are processes nothing more is asked for, so that
the loss of the connection is not even noticed (see docs/durability.md).
"""

from typing import Any, Final

from celery import Celery
from kombu import Connection
from kombu.transport.redis import Channel, QoS
from kombu.transport.virtual import QoS as Counted

# Between attempts to connect; kombu's own begin with 2 s and end at 30.
FIRST_SECONDS: Final = 0.2
STEP_SECONDS: Final = 0.2
LONGEST_SECONDS: Final = 2.0


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


class PromptConnection(Connection):
    """Connects again soon."""

    def _ensure_connection(self, *args: Any, **more: Any) -> Any:
        waits = {
            "interval_start": FIRST_SECONDS,
            "interval_step": STEP_SECONDS,
            "interval_max": LONGEST_SECONDS,
        }
        return super()._ensure_connection(*args, **{**waits, **more})


def consume_again(app: Celery) -> None:
    """Let the consumer of this process outlive Redis."""
    Channel.QoS = ForgivingQoS
    app.amqp.Connection = PromptConnection
