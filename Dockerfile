FROM python:3.11-slim

RUN useradd --create-home --uid 10001 marginalia
WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY --chown=root:root bot bot
COPY --chown=root:root cogs cogs
COPY --chown=root:root domain domain
COPY --chown=root:root storage storage
COPY --chown=root:root prompts prompts

USER marginalia
ENV DATA_DIR=/data PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 LOG_LEVEL=INFO LOG_FORMAT=json
VOLUME /data
# The bot touches the file at every heartbeat it gets from Discord; two minutes without one is an illness.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD \
  ["python", "-c", "import os, sys, time; sys.exit(time.time() - os.stat('/data/health').st_mtime > 120)"]
STOPSIGNAL SIGTERM
CMD ["python", "-m", "bot", "run"]
