# One image for `atlas mcp --transport http`, the daemon and the worker. It runs without root, on a read-only root file system:
#
#   docker build -t code-atlas .
#   docker run --rm --read-only --tmpfs /tmp -v "$PWD:/project:ro" -v atlas:/data code-atlas index
#
# /project is the project, /data everything that Code Atlas writes: the index, its marker key and logs.
ARG RUST_IMAGE=rust:1.95-slim-bookworm
ARG PYTHON_IMAGE=python:3.13-slim-bookworm

FROM ${RUST_IMAGE} AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev python3 python3-venv \
 && python3 -m venv /opt/maturin \
 && /opt/maturin/bin/pip install --no-cache-dir "maturin>=1.13,<2"
WORKDIR /source
COPY . .
RUN /opt/maturin/bin/maturin build --release --locked --out /wheels

FROM ${PYTHON_IMAGE} AS install
COPY --from=build /wheels /wheels
COPY constraints.txt /
# The environment contains no pip. Modules are compiled now, because the root file system is read-only later.
RUN python3 -m venv --without-pip /opt/atlas \
 && python3 -m pip --python /opt/atlas/bin/python install --no-cache-dir --only-binary :all: -c /constraints.txt \
      "$(echo /wheels/*.whl)[packs,servers]"

FROM ${PYTHON_IMAGE}
COPY --from=install /opt/atlas /opt/atlas
RUN install --directory --owner 10001 --group 10001 --mode 0700 /data
ENV PATH=/opt/atlas/bin:$PATH HOME=/data XDG_CACHE_HOME=/data/cache XDG_CONFIG_HOME=/data/config XDG_DATA_HOME=/data/share \
    ATLAS_PROJECT=/project PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
VOLUME /data
WORKDIR /project
EXPOSE 8765
ENTRYPOINT ["atlas"]
CMD ["--help"]
