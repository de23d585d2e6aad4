# The service in a container: a build with the locked packages, then an image without a compiler.
#   docker build -t unimodal .
#   unimodal token add tokens.json --role admin && chmod 644 tokens.json    # for its user, 10001
#   docker run -p 127.0.0.1:8000:8000 --read-only --tmpfs /tmp --cap-drop ALL \
#     --security-opt no-new-privileges -v campaigns:/data -v kernels:/opt/kernels \
#     -v ./tokens.json:/run/tokens.json:ro unimodal
FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/unimodal
# What the lock file names, checked by its hashes; installed is what the service needs of that, and
# nothing else is fetched.
COPY requirements.lock ./
RUN /opt/unimodal/bin/pip download --no-cache-dir --no-deps --require-hashes --dest /wheels \
  -r requirements.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN /opt/unimodal/bin/pip install --no-cache-dir --no-index --find-links /wheels \
  '.[serve,postgresql]'
# Compiled ahead, so that the first decision of a new container does not wait for it.
ENV UNIMODAL_CACHE_DIR=/opt/kernels
RUN /opt/unimodal/bin/unimodal warm peakuts --family bernoulli --no-engines

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home unimodal
COPY --from=build /opt/unimodal /opt/unimodal
COPY --from=build --chown=unimodal /opt/kernels /opt/kernels
ENV PATH=/opt/unimodal/bin:$PATH UNIMODAL_CACHE_DIR=/opt/kernels PYTHONUNBUFFERED=1 \
  UNIMODAL_STORE=/data/campaigns
USER unimodal
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["python", "-c", \
  "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=2).close()"]
# SIGTERM finishes what is in flight and closes the campaigns.
STOPSIGNAL SIGTERM
ENTRYPOINT ["unimodal", "serve"]
CMD ["--host", "0.0.0.0", "--tokens", "/run/tokens.json"]
