# flecto and its stages with git, for a CI job that has no Rust; docs/ci.md says how it is run.
FROM rust:1.88-slim-bookworm AS build
WORKDIR /src
# One linked file a program, so that the image below may be of any age.
RUN rustup target add x86_64-unknown-linux-musl
RUN apt-get update && apt-get install -y --no-install-recommends musl-tools=1.2.* && rm -rf /var/lib/apt/lists/*
COPY Cargo.toml Cargo.lock ./
COPY bin bin
COPY src src
COPY tests tests
RUN cargo install --locked --target x86_64-unknown-linux-musl --root /out --path .

FROM alpine:3.22
# git reads the baseline. A mounted repository belongs to somebody else, which git refuses unless it is told.
RUN apk add --no-cache git=~2 && git config --system --add safe.directory /repo && adduser -D -u 10001 flecto
COPY --from=build /out/bin/ /usr/local/bin/
USER 10001:10001
WORKDIR /repo
ENTRYPOINT ["flecto"]
