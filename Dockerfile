# The binary alone on a base with a C library, certificates and time zones: no shell, no package manager, not root.
#   docker build --tag quipu .
#   docker run --env QUIPU_TOKEN=… --volume quipu:/data --publish 127.0.0.1:4777:4777 quipu
# A release gives its own binary in place of the first stage: --build-context build=FOLDER

FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN make build && cp target/release/quipu /quipu && install --directory --mode 0700 /data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /quipu /usr/bin/quipu
COPY LICENSE /usr/share/doc/quipu/LICENSE
# The volume belongs to the user of the base, 65532.
COPY --from=build --chown=65532:65532 --chmod=0700 /data /data
ENV QUIPU_ROOT=/data \
    QUIPU_SERVER__LISTEN=0.0.0.0:4777 \
    QUIPU_SERVER__TOKENS='[{ secret = "env:QUIPU_TOKEN" }]'
VOLUME /data
EXPOSE 4777
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["/usr/bin/quipu", "status", "--quiet"]
ENTRYPOINT ["/usr/bin/quipu"]
CMD ["serve"]
