# The base by its digest: the tag says what it is, the digest decides. Renew both together, best with every release:
#   docker buildx imagetools inspect python:3.11-slim
ARG PYTHON=python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

# Everything that is installed is named with its hash, what builds the wheel included.
FROM ${PYTHON} AS build
WORKDIR /src
# requirements-cluster.txt for PostgreSQL, an object store and figures.
ARG REQUIREMENTS=requirements.txt
COPY requirements.txt requirements-cluster.txt requirements-build.txt ./
RUN python -m venv /venv \
  && /venv/bin/pip install --no-cache-dir --only-binary :all: --require-hashes -r ${REQUIREMENTS} \
  && python -m venv /builder \
  && /builder/bin/pip install --no-cache-dir --only-binary :all: --require-hashes -r requirements-build.txt
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY cogs cogs
COPY domain domain
COPY storage storage
COPY prompts prompts
RUN /builder/bin/python -m hatchling build -t wheel -d /wheels \
  && /venv/bin/pip install --no-cache-dir --no-index --no-deps /wheels/*.whl

FROM ${PYTHON}
RUN useradd --no-create-home --uid 10001 marginalia \
  && install --directory --owner=marginalia --group=marginalia --mode=0700 /data
# For scanned books, for example: --build-arg TESSERACT="tesseract-ocr tesseract-ocr-deu" (docs/books.md).
ARG TESSERACT=
RUN if [ -n "${TESSERACT}" ]; then apt-get update \
  && apt-get install --yes --no-install-recommends ${TESSERACT} && rm -rf /var/lib/apt/lists/*; fi
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH

USER marginalia
# A blank DATA_DIR, as in a copy of .env.example, means the folder data here.
WORKDIR /
ENV DATA_DIR=/data HOME=/tmp PYTHONUNBUFFERED=1 LOG_LEVEL=INFO LOG_FORMAT=json
VOLUME /data
# The bot writes the file every 15 seconds while it is online: docs/operations.md.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "\
import os, sys, time; path = os.path.join(os.environ.get('DATA_DIR') or '/data', 'health'); \
sys.exit(not os.path.exists(path) or time.time() - os.stat(path).st_mtime > 60)"]
STOPSIGNAL SIGTERM
CMD ["marginalia", "run"]
