import { join } from "node:path";
import { CHART, kubernetesTool } from "@rockbot/testing";
import { services } from "../services.ts";

/** helm, or why tests that render are skipped. */
export const helm = await kubernetesTool("helm");
export const helmProgram = "program" in helm ? helm.program : "";

/** The name of a group of tests. */
export const named = (name: string): string => ("why" in helm ? `${name} (skipped: ${helm.why})` : name);

/** What values a release may have. */
export interface Profile {
  readonly args: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

const digest = `sha256:${"a".repeat(64)}`;
const scriptsImage = `python@${digest}`;
const somewhere = (cidr: string) => [{ ipBlock: { cidr } }];

/** Addresses of nobody, by which tests find rules again. */
export const places = {
  apiServer: "203.0.113.1/32",
  broker: "203.0.113.2/32",
  redis: "203.0.113.3/32",
  model: "203.0.113.4/32",
  collector: "203.0.113.5/32",
} as const;
export const peers = {
  clients: { podSelector: { matchLabels: { party: "clients" } } },
  readers: { podSelector: { matchLabels: { party: "readers" } } },
} as const;

const production = {
  ...Object.fromEntries(
    services.map(({ key, required }) => [
      key,
      {
        image: { digest },
        ...(required.length > 0 ? { secrets: { existingSecret: `of-${key.toLowerCase()}` } } : {}),
        replicas: 2,
      },
    ]),
  ),
  networkPolicy: { apiServer: { cidrs: [places.apiServer] }, clients: [peers.clients], monitoring: [peers.readers] },
  policy: { existingConfigMap: "policy-of-ours" },
  broker: { existing: { to: somewhere(places.broker), managementUrl: "https://broker.example:15671" } },
  rights: {
    image: { digest },
    passwordsSecret: "passwords-of-ours",
    managementSecret: { name: "administrator-of-ours" },
  },
  redis: { existing: { to: somewhere(places.redis) } },
};

const toModel = [{ to: somewhere(places.model), ports: [{ protocol: "TCP", port: 443 }] }];

const neededSettings: Readonly<Record<string, unknown>> = {
  googleClientId: "client",
  linkedinRobots: "obey",
  browserPath: "/usr/bin/chromium",
  restConfig: "/more/rest.yaml",
  a2aAgentsFile: "/more/well-known-agents.json",
  workspaceRoots: { notes: { folder: "/more" } },
};

/** Services that a release has to ask for. */
const askedFor = Object.fromEntries(
  services
    .filter(({ values }) => values["enabled"] === false)
    .map(({ key, egress, state, needs }) => [
      key,
      {
        enabled: true,
        ...(needs === undefined || neededSettings[needs] === undefined
          ? {}
          : { settings: { [needs]: neededSettings[needs] } }),
        ...(egress.includes("configured") ? { egress: toModel, internet: egress.includes("internet") } : {}),
        ...(state.includes("data") ? { data: { kind: "claim", existingClaim: "data" } } : {}),
      },
    ]),
);

const affinity = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };

/** The whole of what the chart can render, and what people install. */
export const profiles = {
  default: { args: [], values: {} },
  dev: { args: ["--values", join(CHART, "values-dev.yaml")], values: {} },
  production: {
    args: ["--values", join(CHART, "values.production.yaml")],
    values: {
      ...production,
      scriptsManager: {
        ...production["scriptsManager" as keyof typeof production],
        settings: { kubernetesImage: scriptsImage },
      },
    },
  },
  everything: {
    args: [],
    values: {
      ...production,
      ...askedFor,
      policy: {},
      broker: { replicas: 3, affinity },
      redis: { kind: "sentinel", affinity },
      ipFamily: "IPv6",
      extraObjects: [
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "{{ .Release.Name }}-more" } },
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: text }",
      ],
      gateway: { autoscaling: { kind: "cpu" } },
      rights: {},
      global: { registry: "registry.example/team", imagePullSecrets: [{ name: "pull" }], labels: { team: "tools" } },
      defaults: {
        topologySpread: { nodes: "DoNotSchedule", zones: "DoNotSchedule" },
        autoscaling: { max: 6 },
        podAnnotations: { note: "text" },
        podLabels: { more: "text" },
        nodeSelector: { disk: "fast" },
        tolerations: [{ key: "tools", operator: "Exists" }],
        affinity,
        podSecurityContext: { supplementalGroups: [7] },
        securityContext: { seLinuxOptions: { level: "s0:c123" } },
        extraEnv: [{ name: "TZ", value: "UTC" }],
        extraVolumes: [{ name: "more", emptyDir: {} }],
        extraVolumeMounts: [{ name: "more", mountPath: "/more" }],
        serviceAccount: { annotations: { role: "text" } },
        secrets: { existingSecret: "all" },
      },
      webTools: {
        autoscaling: { kind: "keda" },
        secrets: { from: { BRAVE_API_KEY: { name: "brave", key: "apiKey" } } },
      },
      mcpBridge: { autoscaling: { kind: "hpa" }, audit: { kind: "claim", existingClaim: "audit" } },
      scriptsManager: {
        settings: { kubernetesImage: scriptsImage },
        secrets: { keys: ["PIP_INDEX_URL"] },
        packages: { certificatesConfigMap: "authorities" },
        egress: toModel,
      },
      agent: { ...askedFor["agent"], settings: { modelUrl: "https://models.example/v1", model: "one" } },
      networkPolicy: {
        apiServer: { cidrs: [places.apiServer] },
        clients: [peers.clients],
        monitoring: [peers.readers],
      },
      tls: { caBundle: { configMap: "authorities" } },
      ingress: { enabled: true, host: "rockbot.example", tlsSecret: "tls", className: "nginx" },
      httpRoute: { enabled: true, parentRefs: [{ name: "outside" }], hostnames: ["rockbot.example"] },
      monitoring: {
        otlp: {
          endpoint: "http://collector.example:4318",
          egress: [{ to: somewhere(places.collector), ports: [{ protocol: "TCP", port: 4318 }] }],
        },
        prometheus: { address: "http://prometheus.example:9090" },
        podMonitor: { enabled: true },
        rules: { enabled: true },
        dashboards: { enabled: true },
      },
      scripts: {
        runtimeClassName: "gvisor",
        quota: { pods: "60" },
        limits: { max: { cpu: "2" } },
        admissionPolicy: { enabled: true, allowedImages: [scriptsImage] },
      },
    },
  },
} satisfies Readonly<Record<string, Profile>>;
