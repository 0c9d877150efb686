# One image for every part: `steelyard agent`, `steelyard balancer`, and, as it is, a worker of the
# demo. The full Python image has the compiler for the hot path, the slim one is what ships.
ARG PYTHON=3.11

FROM python:${PYTHON} AS build
# Where packages come from, if not from pip's own default.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_FIND_LINKS
ARG PIP_NO_INDEX
ARG PIP_TRUSTED_HOST
# 1: plain Python; 0: compiled, or the build fails.
ARG STEELYARD_PURE
WORKDIR /source
RUN python -m venv /opt/steelyard
COPY constraints.txt pyproject.toml setup.py MANIFEST.in README.md LICENSE ./
COPY src src
RUN /opt/steelyard/bin/pip install --no-cache-dir --constraint constraints.txt '.[docker,redis]'

FROM python:${PYTHON}-slim
# A number above those that distributions give to their own.
RUN useradd --uid 10001 --user-group --create-home steelyard \
    && install --directory --owner steelyard --group steelyard --mode 700 /var/lib/steelyard
COPY --from=build /opt/steelyard /opt/steelyard
ENV PATH=/opt/steelyard/bin:$PATH PYTHONDONTWRITEBYTECODE=1 STEELYARD_STATE=/var/lib/steelyard
USER steelyard
WORKDIR /home/steelyard
VOLUME /var/lib/steelyard
# Generous: on a Swarm an unhealthy container is replaced, and a busy machine is not ill.
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=6 \
    CMD ["python", "-m", "steelyard.health"]
CMD ["python", "-m", "steelyard.demo", "--host", "0.0.0.0", "--port", "8000"]
