"""The Celery application of the workers: ``celery --app workers.app worker``."""

from api.broker import celery_app
from api.settings import read_settings

app = celery_app(read_settings().broker)

from workers import tasks, watchdog  # noqa: E402, F401 - they register themselves
