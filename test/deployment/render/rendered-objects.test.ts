import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CHART, type KubeObject, type Pod, renderChart, run } from "@rockbot/testing";
import { Ajv, type ValidateFunction } from "ajv";
import { describe, expect, test } from "vitest";
import { services } from "../services.ts";
import { helm, helmProgram, named, profiles } from "./profiles.ts";

type Rendered = KubeObject & { readonly spec?: { readonly template?: Pod; readonly jobTemplate?: unknown } };

const rendered = new Map<string, Promise<readonly Rendered[]>>();

/** What helm makes of a profile, once for all tests. */
function objectsOf(name: keyof typeof profiles): Promise<readonly Rendered[]> {
  const { args, values } = profiles[name];
  const found = rendered.get(name) ?? (renderChart(helmProgram, args, values) as Promise<readonly Rendered[]>);
  rendered.set(name, found);
  return found;
}

const read = (name: string): Record<string, object> =>
  JSON.parse(readFileSync(join(import.meta.dirname, "schemas", name), "utf8"));
const keyOf = ({ apiVersion = "", kind }: KubeObject): string =>
  `${apiVersion.includes("/") ? "" : "/"}${apiVersion}/${kind}`;

type Validators = (key: string) => ValidateFunction | undefined;

/**
 * One validator for each kind by `group/version/kind`, compiled when it is asked for: undefined for what is not known.
 */
function validatorsOf(kinds: Readonly<Record<string, object>>, $defs: object = {}): Validators {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: "shared", $defs });
  const compiled = new Map<string, ValidateFunction>();
  return (key) => {
    const { $ref, ...schema } = (kinds[key] ?? {}) as { readonly $ref?: string };
    if (kinds[key] === undefined) return undefined;
    const validate = compiled.get(key) ?? ajv.compile($ref === undefined ? schema : { $ref: `shared${$ref}` });
    compiled.set(key, validate);
    return validate;
  };
}

const ofOperators = validatorsOf(read("custom-resources.json"));
const validators = ["1.33", "1.34", "1.35"].map((version): [string, Validators] => {
  const { kinds = {}, $defs } = read(`kubernetes-${version}.json`);
  const ofKubernetes = validatorsOf(kinds as Record<string, object>, $defs);
  return [version, (key) => ofKubernetes(key) ?? ofOperators(key)];
});

/** The pods that an object makes; itself if it is one. */
const podsOf = (object: Rendered): Pod[] =>
  object.kind === "Pod"
    ? [object as unknown as Pod]
    : object.spec?.template === undefined
      ? []
      : [object.spec.template];

describe.skipIf("why" in helm)(named("what the chart renders"), () => {
  test("helm finds nothing to complain of, under any profile", async () => {
    for (const { args } of Object.values(profiles)) {
      expect(await run(helmProgram, ["lint", "--strict", CHART, ...args], { timeoutMs: 60_000 })).toContain(
        "0 chart(s) failed",
      );
    }
  });

  test("has what clusters ask for: names, images, addresses, containers and objects of theirs, and no password over plain http", async () => {
    const { args, values } = profiles.everything;
    const own = {
      fullnameOverride: "tools",
      broker: { replicas: 3, affinity: { nodeAffinity: {} }, tls: { existingSecret: "broker-tls" } },
      gateway: {
        autoscaling: { kind: "cpu" },
        initContainers: [{ name: "before", image: "registry.example/aside" }],
        extraContainers: [{ name: "beside", image: "registry.example/aside" }],
      },
    };
    const objects: readonly Rendered[] = await renderChart(helmProgram, args, { ...values, ...own });
    const text = JSON.stringify(objects);
    const named = (kind: string, name: string) =>
      objects.find((object) => object.kind === kind && object.metadata.name === name);
    const gateway = named("Deployment", "tools-gateway")?.spec?.template;
    const images = objects
      .flatMap(podsOf)
      .flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers].map(({ image }) => image));

    expect(images.filter((image) => !image?.startsWith("registry.example/"))).toEqual([]);
    expect(text).toContain("kubernetesImage: registry.example/team/python@sha256");
    expect(gateway?.spec).toMatchObject({
      securityContext: { runAsNonRoot: true, supplementalGroups: [7] },
      initContainers: [{ name: "before" }],
      containers: [
        { name: "gateway", securityContext: { readOnlyRootFilesystem: true, seLinuxOptions: { level: "s0:c123" } } },
        { name: "beside" },
      ],
    });
    expect(named("HorizontalPodAutoscaler", "tools-gateway")?.spec).toMatchObject({
      metrics: [{ type: "ContainerResource", containerResource: { name: "cpu", container: "gateway" } }],
    });
    for (const part of ["broker", "redis"])
      expect(named("StatefulSet", `tools-${part}`)?.spec?.template).toHaveProperty("spec.affinity");
    expect(named("PodMonitor", "tools-broker")?.spec).toMatchObject({ podMetricsEndpoints: [{ port: "metrics" }] });
    expect([named("ConfigMap", "rockbot-more"), named("ConfigMap", "text")]).not.toContain(undefined);
    expect(text).toContain("https://tools-broker.rockbot.svc:15671");
    expect(text).not.toMatch(/15672|0\.0\.0\.0[^/]/);
  });

  describe.each(Object.keys(profiles) as (keyof typeof profiles)[])("under the profile %s", (profile) => {
    test.each(validators)(
      "is known to Kubernetes %s and to the operators, field by field",
      async (_version, validatorOf) => {
        const faults = (await objectsOf(profile)).flatMap((object) => {
          const validate = validatorOf(keyOf(object));
          if (validate === undefined) return [`${keyOf(object)}: no schema`];
          const isKnown: boolean = validate(object);
          return isKnown ? [] : [`${keyOf(object)} ${object.metadata.name}: ${JSON.stringify(validate.errors)}`];
        });
        expect(faults).toEqual([]);
      },
    );

    test("has pods as the restricted profile wants them, with a root that cannot be written, and no token but the manager's", async () => {
      const pods = (await objectsOf(profile)).flatMap(podsOf);
      expect(pods.length).toBeGreaterThan(5);
      for (const pod of pods) {
        expect(pod.spec.securityContext).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: "RuntimeDefault" },
        });
        for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
          expect(container.securityContext).toMatchObject({
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"] },
            readOnlyRootFilesystem: true,
          });
          expect(container.resources).toMatchObject({
            requests: { cpu: expect.anything(), memory: expect.anything() },
            limits: { memory: expect.anything() },
          });
        }
        expect(pod.spec).toMatchObject({ enableServiceLinks: false });
      }
      const withToken = pods
        .filter(({ spec }) => spec.automountServiceAccountToken !== false)
        .map(({ spec }) => spec.serviceAccountName);
      expect(withToken).toEqual(["rockbot-scripts-manager"]);
    });

    test("has all that belongs to a service, for each service that is enabled", async () => {
      const objects = await objectsOf(profile);
      const { values } = profiles[profile] as {
        readonly values: Readonly<Record<string, { readonly enabled?: boolean }>>;
      };
      const enabled = services.filter(({ key, values: { enabled } }) => values[key]?.enabled ?? enabled);
      const has = (kind: string, name: string) =>
        objects.some((object) => object.kind === kind && object.metadata.name === name);
      const lacking = enabled.flatMap(({ name, port }) =>
        [
          "Deployment",
          "ServiceAccount",
          "ConfigMap",
          "PodDisruptionBudget",
          "NetworkPolicy",
          ...(port === undefined ? [] : ["Service"]),
        ].filter((kind) => !has(kind, `rockbot-${name}`)),
      );
      expect(lacking).toEqual([]);
      const deployed = objects.filter(
        ({ kind, metadata }) => kind === "Deployment" && metadata.labels?.["app.kubernetes.io/component"] === "service",
      );
      expect(deployed).toHaveLength(enabled.length);
    });

    test("rolls out without a gap, spread over nodes and zones, with three probes and time to drain", async () => {
      const deployments = (await objectsOf(profile)).filter(
        ({ kind, metadata }) => kind === "Deployment" && metadata.labels?.["app.kubernetes.io/component"] === "service",
      );
      for (const { spec } of deployments) {
        expect(spec).toMatchObject({
          strategy: { rollingUpdate: { maxUnavailable: 0 } },
          template: {
            metadata: { annotations: { "checksum/config": expect.stringMatching(/^[0-9a-f]{64}$/) } },
            spec: {
              terminationGracePeriodSeconds: expect.toSatisfy((seconds: number) => seconds > 20),
              topologySpreadConstraints: [
                { topologyKey: "kubernetes.io/hostname" },
                { topologyKey: "topology.kubernetes.io/zone" },
              ],
              priorityClassName: "rockbot-service",
              containers: [
                {
                  startupProbe: expect.anything(),
                  livenessProbe: expect.anything(),
                  readinessProbe: expect.anything(),
                },
              ],
            },
          },
        });
        // Nodes of either processor will do.
        expect(JSON.stringify(spec?.template?.spec)).not.toContain("kubernetes.io/arch");
      }
    });

    test("has no secret in a variable, a setting or an argument", async () => {
      const objects = await objectsOf(profile);
      const pods = objects.flatMap(podsOf);
      const secretNames = services.flatMap(({ secrets }) => secrets);
      const variables = pods.flatMap(({ spec }) => spec.containers.flatMap(({ env = [] }) => env));
      expect(
        variables.filter(
          (variable) => secretNames.includes(variable.name) || "secretKeyRef" in (variable.valueFrom ?? {}),
        ),
      ).toEqual([]);
      const maps = JSON.stringify(objects.filter(({ kind }) => kind === "ConfigMap"));
      expect(maps).not.toMatch(/amqps?:\/\/|rediss?:\/\//);
    });
  });

  test("has the gateway answer to its names under the cluster's own domain", async () => {
    const objects = (await renderChart(helmProgram, [], { clusterDomain: "cluster.example" })) as readonly (Rendered & {
      readonly data?: object;
    })[];
    const config = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "rockbot-gateway");
    expect(JSON.stringify(config?.data)).toContain("- rockbot-gateway.rockbot.svc.cluster.example\\n");
  });

  test("starts a roll-out at a change of settings, and at no change of a policy or a secret", async () => {
    const checksumOf = async (values: Readonly<Record<string, unknown>>) => {
      const objects = (await renderChart(helmProgram, [], values)) as readonly Rendered[];
      const deployment = objects.find(
        ({ kind, metadata }) => kind === "Deployment" && metadata.name === "rockbot-web-tools",
      );
      return JSON.stringify(deployment?.spec?.template?.metadata);
    };
    const before = await checksumOf({});
    expect(await checksumOf({ webTools: { settings: { logLevel: "debug" } } })).not.toBe(before);
    expect(await checksumOf({ policy: { text: "callers: {}" } })).toBe(before);
    expect(await checksumOf({ gateway: { settings: { logLevel: "debug" } } })).toBe(before);
  });
});
