FROM python:3.11-slim

RUN useradd --no-create-home --uid 10001 marginalia \
  && install --directory --owner=marginalia --group=marginalia --mode=0700 /data
WORKDIR /src
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY cogs cogs
COPY domain domain
COPY storage storage
COPY prompts prompts
RUN pip install --no-cache-dir --no-deps .

USER marginalia
WORKDIR /data
ENV DATA_DIR=/data HOME=/tmp PYTHONUNBUFFERED=1 LOG_LEVEL=INFO LOG_FORMAT=json
VOLUME /data
# The bot writes the file every 15 seconds while it is online: docs/operations.md.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "\
import os, sys, time; path = os.path.join(os.environ['DATA_DIR'], 'health'); \
sys.exit(not os.path.exists(path) or time.time() - os.stat(path).st_mtime > 60)"]
STOPSIGNAL SIGTERM
CMD ["marginalia", "run"]
