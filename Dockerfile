# Every kind of process from one image: `api`, `worker`, `sweeper`, and the tools.
# `make deploy-check` runs these steps in a clean folder, as far as that goes without Docker.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/ringmaster
COPY requirements-image.lock ./
RUN /opt/ringmaster/bin/python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes --only-binary :all: --requirement requirements-image.lock
COPY pyproject.toml README.md ./
COPY engine/ engine/
COPY schema/ schema/
COPY api/ api/
COPY workers/ workers/
RUN /opt/ringmaster/bin/python -m pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
LABEL org.opencontainers.image.title="ringmaster"
COPY --from=build /opt/ringmaster /opt/ringmaster
ENV PATH=/opt/ringmaster/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    RINGMASTER_DEVELOPMENT=false \
    RINGMASTER_HOST=0.0.0.0
WORKDIR /tmp
# A number, so that Kubernetes sees that it is not root.
USER 10001:10001
EXPOSE 8000
# Of the API by /healthz; of a worker or sweeper by the file that RINGMASTER_READY_FILE names.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --start-interval=2s \
    CMD ["python", "-m", "api.signs"]
# No shell between: SIGTERM reaches the process, which ends in good order as PID 1 too.
STOPSIGNAL SIGTERM
ENTRYPOINT ["ringmaster"]
CMD ["api"]
