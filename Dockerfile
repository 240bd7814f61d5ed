# syntax=docker/dockerfile:1
# Forge as a container: the program, git, and Node for agents that npx runs.
#
#   docker build -t forge .
#   docker run -d --name forge -p 127.0.0.1:3000:3000 -v forge:/data -v "$HOME/src:/src" forge
#   docker exec forge cat /data/login
#
# Inside a container the server must listen on every address, so it requires a token. The first start makes one and keeps
# it in /data/token, and a link that logs a browser in once in /data/login; FORGE_TOKEN sets your own. /health needs no
# token. Publish the port on 127.0.0.1, as above, unless others should reach it. Agents end with the container; the next
# start settles their tasks and has everything they wrote and logged.

FROM node:22-bookworm-slim AS page
WORKDIR /forge
COPY . .
RUN --mount=type=cache,target=/root/.npm \
    npm ci --no-audit --no-fund \
  && npm run --silent build --workspace @forge/web -- --outDir /page

FROM rust:1.95.0-slim-bookworm AS build
# Use the compiler of the image; rust-toolchain.toml also asks for tools that only developers need.
ENV RUSTUP_TOOLCHAIN=1.95.0
RUN apt-get update \
  && apt-get install -y --no-install-recommends make \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /forge
COPY . .
COPY --from=page /page /page
# There is no Node in this stage: the board was built in the stage before.
ENV FORGE_PAGE=/page
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/forge/target \
    cargo build --release --locked -p forge \
  && cp target/release/forge /usr/local/bin/forge

FROM node:22-bookworm-slim
# tini is process 1: it reaps what keepers and agents leave behind, which is not the server's task.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git openssh-client procps tini \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node -m 700 /data
COPY --from=build /usr/local/bin/forge /usr/local/bin/forge

# The user 1000 of the base image, never root: agents run commands as this user.
USER node
ENV HOST=0.0.0.0 \
    PORT=3000 \
    FORGE_HOME=/data \
    FORGE_WORKTREE_DIR=/data/worktrees \
    DISABLE_BROWSER_OPEN=1
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "forge"]
CMD ["serve"]
