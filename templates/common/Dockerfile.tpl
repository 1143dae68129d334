# The image of jobgate with this package: build it with --build-arg JOBGATE=<your image of jobgate>.
ARG JOBGATE=jobgate:$jobgate

FROM python:3.13-slim-trixie AS build
COPY . /src
# jobgate is in its image already. Add here what else the package depends on.
RUN pip install --no-deps --no-compile --target /app /src

FROM $${JOBGATE}
COPY --from=build /app /app
# Fails if the package cannot be loaded.
RUN ["/usr/bin/python3", "/app/bin/jobgate", "kinds"]
