import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = dirname(import.meta.dirname);

type Mount = string | { readonly source: string; readonly target: string };

interface ComposeService {
  readonly profiles?: readonly string[];
  readonly image: string;
  readonly ports?: readonly string[];
  readonly privileged?: boolean;
  readonly volumes?: readonly Mount[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, { readonly name?: string } | null>>;
}

const { services, volumes } = parse(readFileSync(join(root, "docker-compose.yml"), "utf8"), { merge: true }) as Compose;
const manager = services["scripts-manager"] as ComposeService;

const textOf = (mount: Mount): string => (typeof mount === "string" ? mount : `${mount.source}:${mount.target}`);

test("the socket of the container engine is given to scripts-manager alone, which has no port and is started only if somebody asks for it", () => {
  const withSocket = Object.entries(services).filter(([, { volumes: mounts = [] }]) =>
    mounts.some((mount) => /docker[.]sock|DOCKER_SOCKET/.test(textOf(mount))),
  );

  expect(withSocket.map(([name]) => name)).toEqual(["scripts-manager"]);
  expect(manager).toMatchObject({
    profiles: ["scripts"],
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    read_only: true,
  });
  expect(manager.ports).toBeUndefined();
  expect(Object.values(services).filter(({ privileged }) => privileged === true)).toEqual([]);
});

test("scripts see the folder of packages by the name that the engine knows it by, and run in the image that is fetched before", () => {
  const {
    PACKAGES_FOLDER: folder,
    PACKAGES_VOLUME: name,
    CONTAINER_IMAGE: image,
    CONTAINER_OWNER: owner,
  } = manager.environment ?? {};
  const source =
    manager.volumes
      ?.map(textOf)
      .find((mount) => mount.endsWith(`:${folder}`))
      ?.split(":")[0] ?? "";

  expect(volumes[source]?.name).toBe(name);
  // Another project on the same engine has volumes and containers of its own.
  for (const shared of [name, owner]) expect(shared).toMatch(/[$]\{COMPOSE_PROJECT_NAME\}/);
  expect(services["scripts-image"]?.image).toBe(image);
});
