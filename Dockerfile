# Omni in one image: all of it with the embedded servers, or one process of a larger installation.
# The first password is in /var/lib/omni/keys/first-password.txt, not in the container's log.
FROM python:3.11-slim

# User namespaces are not needed here: nothing in this image runs as root.
RUN useradd --create-home --uid 10001 omni \
    && install -d -o omni -g omni -m 0700 /var/lib/omni

WORKDIR /opt/omni
COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes --no-deps -r requirements.txt

COPY . .
RUN python -m compileall -q omni apps \
    && printf '#!/bin/sh\nexec python -m omni "$@"\n' > /usr/local/bin/omni \
    && chmod 0755 /usr/local/bin/omni

USER omni
ENV PYTHONPATH=/opt/omni \
    PYTHONUNBUFFERED=1 \
    OMNI_HOME=/var/lib/omni \
    OMNI_HOST=0.0.0.0 \
    OMNI_PORT=8000
VOLUME /var/lib/omni
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=90s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "-m", "omni.services", "up"]
