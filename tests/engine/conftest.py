"""Few examples by default, for slow machines; HYPOTHESIS_PROFILE=thorough tries many."""

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("quick", max_examples=8, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("thorough", max_examples=200, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
