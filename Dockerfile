# syntax=docker/dockerfile:1

# Builds the one JavaScript file that runs, then leaves behind what only building needs.
FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
COPY adapters adapters
RUN npm run build && npm prune --omit=dev

FROM node:20-slim
# tini ends what user code leaves behind: a process with number 1 must reap orphans.
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-pip python3-venv tini \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o node -g node /data /work
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
ENV NODE_ENV=production \
    MCP_TRANSPORT=streamable-http \
    MCP_HOST=0.0.0.0 \
    MCP_PORT=8000 \
    XDG_DATA_HOME=/data \
    REPL_CWD=/work
VOLUME ["/data", "/work"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MCP_PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/dist/cli.js"]
