/**
 * Writes test/deployment/render/schemas anew: the schemas of what the chart renders, without their descriptions. Not
 * part of `npm run generate`, as what it reads comes from elsewhere: `scripts/kubernetes-schemas.ts SCHEMAS CRD…`.
 * SCHEMAS is the folder `kubernetes-json-schema` of the Python package kubernetes-validate. Each CRD is a file that
 * defines a custom resource, of the module that has it.
 */
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parse } from "yaml";

const FOLDER = join(import.meta.dirname, "../test/deployment/render/schemas");
const VERSIONS = ["1.33", "1.34", "1.35"];
/** Group, version and kind of what the chart may render of Kubernetes itself. */
const KINDS = [
  "/v1/ConfigMap",
  "/v1/LimitRange",
  "/v1/Namespace",
  "/v1/PersistentVolumeClaim",
  "/v1/Pod",
  "/v1/ResourceQuota",
  "/v1/Secret",
  "/v1/Service",
  "/v1/ServiceAccount",
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
  "apps/v1/Deployment",
  "apps/v1/StatefulSet",
  "autoscaling/v2/HorizontalPodAutoscaler",
  "batch/v1/CronJob",
  "batch/v1/Job",
  "networking.k8s.io/v1/Ingress",
  "networking.k8s.io/v1/NetworkPolicy",
  "policy/v1/PodDisruptionBudget",
  "rbac.authorization.k8s.io/v1/Role",
  "rbac.authorization.k8s.io/v1/RoleBinding",
  "scheduling.k8s.io/v1/PriorityClass",
];

type Schema = Record<string, unknown>;
interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const [schemas = "", ...crds] = process.argv.slice(2);
for (const version of VERSIONS) {
  const [file = ""] = globSync(join(schemas, `v${version}.*-local/_definitions.json`));
  const { $defs } = JSON.parse(readFileSync(file, "utf8")) as { readonly $defs: Record<string, Schema> };
  await write(`kubernetes-${version}.json`, reduced($defs));
}
await write("custom-resources.json", Object.fromEntries(crds.flatMap(customResources)));

/** The definitions that KINDS need, with the kinds themselves by `group/version/kind`. */
function reduced(definitions: Readonly<Record<string, Schema>>): Schema {
  const kinds: Record<string, Schema> = {};
  const kept: Record<string, unknown> = {};
  const keep = (name: string): void => {
    if (name in kept) return;
    kept[name] = undefined;
    kept[name] = strict(definitions[name]);
    for (const [, other = ""] of JSON.stringify(kept[name]).matchAll(/"#\/\$defs\/([^"]+)"/g)) keep(other);
  };
  for (const [name, schema] of Object.entries(definitions)) {
    for (const { group, version, kind } of (schema["x-kubernetes-group-version-kind"] ?? []) as readonly Kind[]) {
      if (!KINDS.includes(`${group}/${version}/${kind}`)) continue;
      keep(name);
      kinds[`${group}/${version}/${kind}`] = { $ref: `#/$defs/${name}` };
    }
  }
  return { kinds, $defs: kept };
}

function customResources(file: string): [string, unknown][] {
  const { spec } = parse(readFileSync(file, "utf8")) as {
    readonly spec: {
      readonly group: string;
      readonly names: { readonly kind: string };
      readonly versions: readonly {
        readonly name: string;
        readonly served: boolean;
        readonly schema: { readonly openAPIV3Schema: Schema };
      }[];
    };
  };
  const served = spec.versions.filter((version) => version.served);
  if (served.length === 0) throw new Error(`${basename(file)} serves no version`);
  return served.map(({ name, schema }) => [`${spec.group}/${name}/${spec.names.kind}`, strict(schema.openAPIV3Schema)]);
}

/** As the API server reads it under strict validation: a field that is not known is a fault. */
function strict(value: unknown, place: "schema" | "names" | "part" = "schema"): unknown {
  if (Array.isArray(value)) return value.map((item) => strict(item, place));
  if (typeof value !== "object" || value === null) return value;
  const schema = value as Schema;
  const isNames = place === "names";
  const entries = Object.entries(schema)
    .filter(([key, item]) => isNames || !isLeftOut(key, item))
    .map(([key, item]): [string, unknown] => [
      key,
      strict(item, isNames ? "schema" : key === "properties" ? "names" : isParts(key) ? "part" : "schema"),
    ]);
  const result = Object.fromEntries(entries);
  if (isNames) return result;
  if (schema["x-kubernetes-int-or-string"] === true) return { anyOf: [{ type: "integer" }, { type: "string" }] };
  const isOpen =
    place === "part" ||
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    "additionalProperties" in result ||
    !("properties" in result);
  return isOpen ? result : { ...result, additionalProperties: false };
}

/** What says nothing of a field's form, and patterns of Go that are none elsewhere. */
function isLeftOut(keyword: string, value: unknown): boolean {
  return (
    /^(x-.*|description|default|format)$/.test(keyword) || (keyword === "pattern" && String(value).includes("(?i)"))
  );
}

/** Tells whether a keyword adds to an object that is described elsewhere. */
function isParts(keyword: string): boolean {
  return /^(allOf|anyOf|oneOf|not)$/.test(keyword);
}

async function write(name: string, value: unknown): Promise<void> {
  await writeFile(join(FOLDER, name), `${JSON.stringify(value)}\n`);
}
