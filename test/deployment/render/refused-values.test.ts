import { join } from "node:path";
import { CHART, renderChart } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { services } from "../services.ts";
import { helm, helmProgram, named, peers, profiles } from "./profiles.ts";

/** What helm says against values. */
async function refusal(
  values: Readonly<Record<string, unknown>>,
  args: readonly string[] = [],
  place?: { readonly release: string; readonly namespace: string },
): Promise<string> {
  return renderChart(helmProgram, args, values, place).then(
    () => "",
    (error: Error) => error.message,
  );
}

/** The values that a refusal names. */
const namedIn = (said: string): string[] | undefined =>
  said
    .match(/^ {2}- [^:]+/gm)
    ?.map((line) => line.slice(4))
    .sort();

describe.skipIf("why" in helm)(named("values that the chart refuses"), () => {
  test("slips of the pen, values out of range and what the chart decides are refused, all at once", async () => {
    const said = await refusal({
      scripts: { admisionPolicy: { enabled: true } },
      scriptsManager: { settings: { sandboxCieling: 4, sandboxCeiling: 0, runner: "local" } },
      webTools: {
        replicas: 0,
        settings: { busUrl: "amqp://host" },
        secrets: { keys: ["BRAVE_KEY"] },
        image: { digest: "sha256:abc" },
      },
      gateway: { autoscaling: { kind: "vpa" }, settings: { host: "127.0.0.1" } },
      ingres: { enabled: true },
      scheduler: { resources: { limits: { memory: "512MB" } }, pdb: { maxUnavailable: "half" } },
      agent: { resources: { limit: {} } },
      global: { registry: "https://registry.example/", labels: { "a b": "text" } },
      mcp: { servers: { one: { uri: "http://one.example/mcp" } } },
      monitoring: { otlp: { endpoint: "collector:4318" } },
      networkPolicy: { clients: [{ namespaceSelektor: {} }] },
      redis: { image: { tag: "a b" }, storage: { size: "4GB" } },
    });
    for (const part of [
      "admisionPolicy",
      "sandboxCieling",
      "sandboxCeiling",
      "runner",
      "replicas",
      "busUrl",
      "secrets/keys",
      "digest",
      "kind",
      "host",
      "ingres",
      "/scheduler/resources/limits/memory",
      "maxUnavailable",
      "'limit'",
      "registry",
      "a b",
      "uri",
      "endpoint",
      "namespaceSelektor",
      "/redis/image/tag",
      "/redis/storage/size",
    ]) {
      expect(said).toContain(part);
    }
  });

  test("what does not go together is refused, all at once", async () => {
    const variable = (name: string): string => `\${${name}}`;
    const allowed = {
      beside: { url: "http://localhost:3000/mcp" },
      off: { url: "http://10.1.2.3/mcp", disabled: true },
      named: { url: `https://${variable("HOST")}/mcp` },
      "with-default": { url: variable("MCP_URL:-https://mcp.example/mcp") },
    };
    const said = await refusal({
      agent: { enabled: true, settings: { modelUrl: "https://models.example/v1", model: "one" } },
      openrouterMcp: { enabled: true },
      webTools: {
        secrets: { keys: ["BRAVE_API_KEY"] },
        audit: { kind: "claim" },
        autoscaling: { kind: "keda", min: 5, max: 2 },
      },
      systemInfoMcp: { autoscaling: { kind: "hpa" } },
      gateway: { autoscaling: { kind: "cpu" } },
      mcp: {
        servers: {
          inside: { url: "http://files.mcp.svc:3000/mcp" },
          near: { url: "http://10.1.2.3/mcp" },
          outside: { url: "https://mcp.example/mcp" },
          ...allowed,
        },
      },
      knowledgeTools: { enabled: true, replicas: 2 },
      scripts: { admissionPolicy: { enabled: true, allowedImages: ["python:3.11"] } },
      ingress: { enabled: true },
      httpRoute: { enabled: true },
    });
    expect(namedIn(said)).toEqual([
      "agent",
      "httpRoute",
      "ingress.host",
      "knowledgeTools.data.kind",
      "mcp.servers.inside.url",
      "mcp.servers.near.url",
      "networkPolicy.clients",
      "openrouterMcp.secrets",
      "scripts.admissionPolicy.allowedImages",
      "systemInfoMcp.autoscaling.kind",
      "webTools.audit.existingClaim",
      "webTools.autoscaling",
      "webTools.autoscaling.kind",
      "webTools.secrets.keys",
    ]);
  });

  test("names, namespaces and texts that cannot be right, and all that a service lacks, are refused at once", async () => {
    const said = await refusal(
      {
        agent: { enabled: true },
        restTools: { enabled: true },
        webTools: { extraEnv: [{ name: "BUS_URL", value: "amqp://host" }] },
        scriptsManager: { settings: { sandboxFloor: 3, sandboxCeiling: 2 } },
        scripts: { namespace: { name: "own" }, priorityClass: { value: 5000 } },
        policy: { text: "callers: [ {", existingConfigMap: "policy" },
        mcp: { servers: { one: { url: "http://one.example/mcp" } }, existingConfigMap: "mcp" },
        monitoring: { otlp: { endpoint: "http://collector.example:4318" } },
        rights: { vhost: "other" },
        gateway: { enabled: false },
        ingress: { enabled: true, host: "rockbot.example" },
        networkPolicy: { clients: [peers.clients] },
      },
      [],
      { release: "9.release", namespace: "own" },
    );
    expect(namedIn(said)).toEqual([
      "agent.settings.modelUrl",
      "ingress.enabled",
      "mcp",
      "monitoring.otlp.egress",
      "policy",
      "policy.text",
      "restTools.settings.restConfig",
      "rights.vhost",
      "scripts.namespace.name",
      "scripts.priorityClass.value",
      "scriptsManager.settings",
      "the release's name",
      "webTools.extraEnv",
    ]);
    expect(await refusal({ scripts: { namespace: { name: "kube-system" } } })).toContain("/scripts/namespace/name");
  });

  test("production values that are not filled in name all that is missing, and go on once it is there", async () => {
    const args = ["--values", join(CHART, "values.production.yaml")];
    const said = await refusal({}, args);
    const enabled = services.filter(({ values }) => values["enabled"]);
    for (const { key, required } of enabled) {
      expect(said).toContain(`${key}.image.digest`);
      expect(said).toMatch(new RegExp(`${key}.secrets.existingSecret: .*${required.join(".*")}`));
    }
    for (const part of ["kubernetesImage", "apiServer.cidrs", "policy", "broker.existing.to", "redis.existing.to"])
      expect(said).toContain(part);
    expect(await refusal(profiles.production.values, args)).toBe("");
  });
});
