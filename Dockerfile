# syntax=docker/dockerfile:1
# Two stages: packages are put together where there is pip, and copied to where there is nothing but Python.
ARG PYTHON=3.11
ARG DISTROLESS=python3-debian12:nonroot

FROM python:${PYTHON}-slim AS build
WORKDIR /src
COPY requirements.lock ./
# All that is locked, each checked by its hash. Then what the product needs is installed from there, and from nowhere else.
RUN pip download --require-hashes --dest /wheels --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY crdgen crdgen
COPY webhook webhook
COPY certs certs
COPY jobgate jobgate
RUN pip install --no-index --find-links /wheels --no-compile --target /app ".[all]"

# Python of the same version, no shell, no package manager.
FROM gcr.io/distroless/${DISTROLESS}
COPY --from=build /app /app
ENV PYTHONPATH=/app PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# `nonroot`; by number, so that Kubernetes can tell.
USER 65532:65532
ENTRYPOINT ["/usr/bin/python3", "/app/bin/jobgate"]
