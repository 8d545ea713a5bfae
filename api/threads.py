"""How many threads numpy may start; to be called before anything imports it."""

import os


def one_thread() -> None:
    """Keep it to one: the matrices are small and the processes many."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
