import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { facets, findGlob, type ServiceFacet } from "@rockbot/policy";
import { secretVariables } from "@rockbot/process/config";
import { type BusService, redisKeys, type Server, services } from "@rockbot/services";
import { parse } from "yaml";
import { composeVariables, networksOf } from "../generate/deployment-files.ts";
import { listFaults } from "../generate/list-faults.ts";
import { readYaml } from "../generate/read-schemas.ts";
import { type SchemaDocument, toolDefinitions } from "../generate/schema-document.ts";

interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly args: { readonly SERVICE: string } };
  readonly profiles?: readonly string[];
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * What `npm run generate` cannot write: that each folder of a service is in the list, that the entries are true, and
 * that what others have added to docker-compose.yml still is what the list says.
 *
 * @returns a line that says what was looked at
 * @throws {Error} with one line for each fault
 */
export async function checkServices(root: string): Promise<string> {
  const read = async (file: string): Promise<unknown> => {
    const { value, faults } = readYaml(file, await readFile(join(root, file), "utf8"));
    if (faults.length > 0) throw new Error(faults.join("\n"));
    return value;
  };
  const folders = globSync("services/*/package.json", { cwd: root }).map((file) => file.split("/")[1] ?? "");
  const names = services.map(({ name }) => name);
  const compose = (await read("docker-compose.yml")) as { readonly services: Readonly<Record<string, ComposeService>> };
  const policy = (await read("packages/policy/policy.schema.yaml")) as {
    readonly properties: { readonly delegates: { readonly default: string[] } };
  };
  const delegates = services.flatMap((service) => (service.onBus && service.isDelegate ? service.name : []));

  const faults = [
    ...folders
      .filter((name) => !names.includes(name))
      .map((name) => `services/index.ts: has no entry for services/${name}`),
    ...names
      .filter((name) => !folders.includes(name))
      .map((name) => `services/index.ts: has an entry for "${name}", and there is no services/${name}`),
    ...Object.entries(compose.services).flatMap(([name, { image = "" }]) =>
      image.startsWith("rockbot/") && image !== "rockbot/cli" && !names.includes(name)
        ? [`docker-compose.yml: runs "${name}", which is no service of services/index.ts`]
        : [],
    ),
    ...(policy.properties.delegates.default.join() === [...delegates, "operator"].join()
      ? []
      : [
          `packages/policy/policy.schema.yaml: delegates: expected the default [${[...delegates, "operator"].join(", ")}], as services/index.ts says`,
        ]),
    ...Object.entries(facets).flatMap(([name, { readBy }]) =>
      readBy === "decisions" || services.some((each) => each.onBus && each.facets?.includes(name as ServiceFacet))
        ? []
        : [`services/index.ts: no entry names the facet "${name}" of the policy: name it in the service that reads it`],
    ),
    ...listFaults(services, await toolNames(root)),
    ...(await toolFaults(root)),
    ...(await Promise.all(services.map(settingFaults))).flat(),
    ...(
      await Promise.all(services.map((service) => composeFaults(service, compose.services[service.name] ?? {})))
    ).flat(),
  ];
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return `${services.length} services`;
}

/**
 * Tools that are no service's are those of the caller itself: guides, and what agents have for MCP servers, memory,
 * families, and to find tools.
 */
const CALLERS_OWN = ["files", "guides", "mcp", "memory", "search", "subagents", "whiteboard", "wisps"];

async function toolNames(root: string): Promise<string[]> {
  const files = globSync("packages/contracts/schema/tools/*.yaml", { cwd: root });
  return (await Promise.all(files.map((file) => toolsIn(root, file)))).flat();
}

/** The names of the tools that a file of schemas defines. */
async function toolsIn(root: string, file: string): Promise<string[]> {
  const { definitions } = parse(await readFile(join(root, file), "utf8")) as SchemaDocument;
  return toolDefinitions(definitions).map(([, { title = "" }]) => title);
}

async function toolFaults(root: string): Promise<string[]> {
  const globs = services.flatMap((service) => (service.onBus ? (service.tools ?? []) : []));
  const files = globSync("packages/contracts/schema/tools/*.yaml", { cwd: root }).filter(
    (file) => !CALLERS_OWN.includes(basename(file, ".yaml")),
  );
  const faults = files.map(async (file) => {
    return (await toolsIn(root, file))
      .filter((tool) => findGlob(globs, tool) === undefined)
      .map(
        (tool) =>
          `services/index.ts: no service may offer the tool ${tool} of ${file}: name it in tools of its service`,
      );
  });
  return (await Promise.all(faults)).flat();
}

async function settingFaults(service: BusService | Server): Promise<string[]> {
  const { name, port } = service;
  const { configSchema } = await service.settings();
  const { properties } = configSchema.schema as {
    readonly properties: Readonly<Record<string, { readonly default?: unknown }>>;
  };
  const needs = service.onBus ? service.needs : undefined;
  return [
    ...(properties["port"]?.default === port
      ? []
      : [
          `services/index.ts: "${name}": expected the port ${properties["port"]?.default}, the default of its settings, got ${port}`,
        ]),
    ...(needs === undefined || needs in properties
      ? []
      : [`services/index.ts: "${name}" needs "${needs}", which is no setting of it`]),
    ...(redisKeys(service).length > 0 === "redisUrl" in properties
      ? []
      : [`services/index.ts: "${name}": its state and its setting redisUrl do not fit: one needs the other`]),
  ];
}

async function composeFaults(
  service: BusService | Server,
  { image, build, profiles, networks, environment = {} }: ComposeService,
): Promise<string[]> {
  const { name, profile } = service;
  const { configSchema } = await service.settings();
  const compared: readonly (readonly [path: string, expected: string | undefined, found: string | undefined])[] = [
    ["image", `rockbot/${name}`, image],
    ["build.args.SERVICE", name, build?.args.SERVICE],
    ["profiles", profile, profiles?.join()],
    ["networks", networksOf(service, services).join(), networks?.join()],
    ...Object.entries(composeVariables(service, secretVariables(configSchema.schema))).map(
      ([variable, value]) => [`environment.${variable}`, value, environment[variable]] as const,
    ),
  ];
  return compared.flatMap(([path, expected, found]) =>
    found === expected
      ? []
      : [
          `docker-compose.yml: services.${name}.${path}: expected ${expected ?? "none"}, as services/index.ts says, got ${found ?? "none"}`,
        ],
  );
}
