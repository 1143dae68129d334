# syntax=docker/dockerfile:1
# Two stages: the first has pip and installs the packages, the second has nothing but Python.
# Both have the same Debian and the same Python: compiled packages of another version would not load.
# From a mirror: --build-arg PYTHON=REGISTRY/python:3.13-slim-trixie --build-arg DISTROLESS=…
ARG PYTHON=python:3.13-slim-trixie
ARG DISTROLESS=gcr.io/distroless/python3-debian13:nonroot

FROM ${PYTHON} AS build
WORKDIR /src
COPY requirements.lock ./
# Downloads every locked package and checks it by its hash; the lock has all dependencies. The next step installs from
# these files only.
RUN pip download --no-deps --require-hashes --dest /wheels --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY crdgen crdgen
COPY packages/crdgen packages/crdgen
COPY webhook webhook
COPY certs certs
COPY jobgate jobgate
COPY templates templates
RUN pip install --no-index --find-links /wheels --no-compile --target /app ./packages/crdgen ".[all]"
# Bytecode, so that a container starts in half the time. Not of the models and APIs of kubernetes, which nothing imports, nor
# of tests in a wheel. It has no time stamps: the same bytes each time, and valid whatever the times of files in the image.
RUN python3 -m compileall -q --invalidation-mode unchecked-hash -x '/(kubernetes/.*(api|models)|bazel-project)/' /app

FROM ${DISTROLESS}
COPY --from=build /app /app
ENV PYTHONPATH=/app PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# `nonroot`, as a number: Kubernetes checks runAsNonRoot only for numbers.
USER 65532:65532
ENTRYPOINT ["/usr/bin/python3", "/app/bin/jobgate"]
