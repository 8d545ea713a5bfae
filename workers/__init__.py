"""Celery workers: bot turns, round scoring, clocks, and the sweeper that lets nothing lie."""
