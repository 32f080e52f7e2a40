# The image of tenured: `scripts/build-image.sh`, or `docker build .`. It is made from scratch, of two
# programs and the Debian packages that they are linked with; scripts/image-root.sh says how.
FROM debian:bookworm-slim AS build
WORKDIR /src
COPY scripts/install-deps.sh scripts/install-grpc.sh scripts/
COPY third_party/grpc third_party/grpc
RUN scripts/install-deps.sh build image_root
# A layer of its own, which changes rarely: it takes a quarter of an hour.
ENV GRPC=/opt/grpc
RUN --mount=type=cache,target=/root/.cache/ccache \
    CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache scripts/install-grpc.sh $GRPC
COPY . .
# The cache holds compiled objects only, so a clean build and a cached one are the same.
RUN --mount=type=cache,target=/root/.cache/ccache \
    cmake --preset release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >/dev/null \
    && scripts/build.sh tenured tenure \
    && scripts/image-root.sh /image \
    && rm -rf build

FROM scratch
COPY --from=build /image /
USER 65532:65532
# Where the embedded store would be. With a MySQL, nothing is written.
WORKDIR /var/lib/tenure
ENV PATH=/usr/local/bin \
    TENURE_LISTEN=0.0.0.0:7070 \
    TENURE_HTTP_LISTEN=0.0.0.0:7071
EXPOSE 7070 7071
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["tenured", "healthcheck"]
ENTRYPOINT ["tenured"]

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tenure" \
      org.opencontainers.image.description="Leader election as a service, on the MySQL that you already run" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
