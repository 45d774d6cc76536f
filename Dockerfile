# The image of one service: docker build --build-arg SERVICE=web-tools --tag rockbot/web-tools .

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN npm install --global "pnpm@$(node -p 'require("./package.json").engines.pnpm')"
RUN --mount=type=cache,id=pnpm,target=/pnpm-store pnpm fetch --store-dir /pnpm-store
COPY . .
RUN --mount=type=cache,id=pnpm,target=/pnpm-store pnpm install --frozen-lockfile --offline --store-dir /pnpm-store
ARG SERVICE
RUN node scripts/bundle.ts "${SERVICE:?Name the service: --build-arg SERVICE=web-tools}"

FROM node:24-bookworm-slim
ARG SERVICE
# Probes come from outside the container, so that its loopback address would not do.
ENV NODE_ENV=production HEALTH_HOST=0.0.0.0 HEALTH_PORT=8481
# What has just been made has 24 MB, as in F26 of docs/measured/faults.md. Node's own choice is up to four times as much, which is filled before anything is given back.
ENV NODE_OPTIONS=--max-semi-space-size=8
COPY --from=build /src/dist/${SERVICE}/ /app/
# What a service keeps, such as an audit log, lies here: a new volume takes its owner over.
RUN install -d -o node -g node -m 700 /var/lib/rockbot
USER node
WORKDIR /app
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --start-interval=1s --retries=3 \
  CMD ["node", "-e", "require('node:http').get(`http://127.0.0.1:${process.env.HEALTH_PORT}/readyz`, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# Without a shell in between, so that SIGTERM reaches the service. What outlives a few collections while many calls are out V8 would make among its old
# objects from then on; there it keeps from being collected with the young whatever it points to, once it is garbage itself.
ENTRYPOINT ["node", "--no-allocation-site-pretenuring", "/app/main.mjs"]
