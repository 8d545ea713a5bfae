"""The Celery application of the workers: ``celery --app workers.app worker``."""

from api.threads import one_thread

one_thread()

from api.broker import celery_app  # noqa: E402
from api.levels import adopt_levels  # noqa: E402
from api.settings import read_settings  # noqa: E402
from workers.consuming import consume_again  # noqa: E402

settings = read_settings()
adopt_levels(settings.levels)  # once, before the processes of this worker begin
app = celery_app(settings.broker)
consume_again(app)

from workers import logs, presence, tasks, watchdog  # noqa: E402, F401 - they register themselves
