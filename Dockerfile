# The image of one service: docker build --build-arg SERVICE=web-tools --tag rockbot/web-tools .
# A release names NODE_IMAGE by its digest: npm run release:images.
ARG NODE_IMAGE=node:24-bookworm-slim

# All that an image has besides its service: Node without the symbols of debuggers, the libraries that it loads, and how it finds hosts and its user. No
# shell, no package manager. Every file has one and the same time, so that the same input makes the same layers.
FROM ${NODE_IMAGE} AS runtime
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
RUN <<'END'
set -eu
mkdir -p /runtime/usr/local/bin /runtime/etc /runtime/var/lib /runtime/usr/share/doc/node
strip --strip-all -o /runtime/usr/local/bin/node "$(command -v node)"
libraries=$(ldd "$(command -v node)" | grep -o '/lib[^ ]*')
cp --dereference --parents $libraries /runtime
cp /usr/local/LICENSE /runtime/usr/share/doc/node/
for package in libc6 libgcc-s1 libstdc++6; do
  dpkg-query --show --showformat '${Package} ${Version} ${Architecture}\n' "$package"
  notice=/usr/share/doc/$package/copyright
  [ ! -f "$notice" ] || cp --dereference --parents "$notice" /runtime
done >/system-packages
echo 'hosts: files dns' >/runtime/etc/nsswitch.conf
printf 'root:x:0:0:root:/:/none\nnode:x:1000:1000:node:/tmp:/none\nnobody:x:65534:65534:nobody:/tmp:/none\n' >/runtime/etc/passwd
printf 'root:x:0:\nnode:x:1000:\nnobody:x:65534:\n' >/runtime/etc/group
install -d -m 1777 /runtime/tmp
install -d -o 1000 -g 1000 -m 700 /runtime/var/lib/rockbot
find /runtime -exec touch --no-dereference --date=@0 {} +
END

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml .node-version ./
COPY scripts/bootstrap/ scripts/bootstrap/
# pnpm has to have its hash in scripts/bootstrap/hashes.json.
RUN <<'END'
set -eu
folder=$(node --input-type=module --eval '
  import { findPnpm, installTools, readWantedTools } from "/src/scripts/bootstrap/tools.mjs";
  const wanted = await readWantedTools("/src");
  await installTools("/src", wanted, { isPnpmNeeded: true });
  console.log(findPnpm("/src", wanted));')
ln -s "$folder/pnpm" /usr/local/bin/pnpm
END
RUN --mount=type=cache,id=pnpm,target=/pnpm-store pnpm fetch --store-dir /pnpm-store
COPY . .
RUN --mount=type=cache,id=pnpm,target=/pnpm-store pnpm install --frozen-lockfile --offline --store-dir /pnpm-store
RUN node scripts/generate-code.ts && cd packages/console && node node_modules/vite/bin/vite.js build
COPY --from=runtime /system-packages /
ARG SERVICE
RUN <<'END'
set -eu
node scripts/bundle.ts --system /system-packages "${SERVICE:?Name the service: --build-arg SERVICE=web-tools}"
mkdir /image
mv "dist/$SERVICE" /image/app
cp LICENSE /image/app/
find /image -exec touch --no-dereference --date=@0 {} +
END

# The image of a service that starts a browser, by --target browser: what Chromium needs is most of a system. tini ends what a killed browser leaves.
FROM ${NODE_IMAGE} AS browser
RUN apt-get update && apt-get install --yes --no-install-recommends chromium tini && rm -rf /var/lib/apt/lists/*
RUN install -d -o 1000 -g 1000 -m 700 /var/lib/rockbot
ARG SERVICE
LABEL org.opencontainers.image.title="rockbot/${SERVICE}" org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production HEALTH_HOST=0.0.0.0 HEALTH_PORT=8481
COPY --from=build /image/ /
USER 1000:1000
WORKDIR /app
HEALTHCHECK --interval=10s --timeout=20s --start-period=30s --start-interval=1s --retries=3 \
  CMD ["node", "-e", "require('node:http').get(`http://127.0.0.1:${process.env.HEALTH_PORT}/readyz`, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "/app/main.mjs"]

FROM scratch
ARG SERVICE
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="rockbot/${SERVICE}" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.created="${CREATED}" \
  org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/usr/local/bin
# Probes come from outside the container, so that its loopback address would not do.
ENV NODE_ENV=production HEALTH_HOST=0.0.0.0 HEALTH_PORT=8481
# What has just been made has 24 MB, as in F26 of docs/measured/faults.md. Node's own choice is up to four times as much, which is filled before anything is given back.
ENV NODE_OPTIONS=--max-semi-space-size=8
# What a service keeps, such as an audit log, lies in /var/lib/rockbot: a new volume takes its owner over.
COPY --from=runtime /runtime/ /
COPY --from=build /image/ /
# By number, so that a cluster sees that it is not root.
USER 1000:1000
WORKDIR /app
HEALTHCHECK --interval=10s --timeout=20s --start-period=30s --start-interval=1s --retries=3 \
  CMD ["node", "-e", "require('node:http').get(`http://127.0.0.1:${process.env.HEALTH_PORT}/readyz`, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# Without a shell in between, so that SIGTERM reaches the service. What outlives a few collections while many calls are out V8 would make among its old
# objects from then on; there it keeps from being collected with the young whatever it points to, once it is garbage itself.
ENTRYPOINT ["node", "--no-allocation-site-pretenuring", "/app/main.mjs"]
