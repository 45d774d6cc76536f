import { randomBytes } from "node:crypto";
import { defaultSandboxLimits, runJob } from "@rockbot/sandbox";
import { kubernetesMaker } from "@rockbot/sandbox/kubernetes";
import { installerCommand, installerLimits } from "@rockbot/scripts-manager";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { podSpec } from "../../packages/sandbox/src/kubernetes/pods/pod-spec.ts";
import { scriptCommand } from "../../packages/sandbox/src/kubernetes/pods/script-command.ts";
import { Cluster } from "./cluster.ts";
import { makeScriptsNamespace, type ScriptsNamespace } from "./scripts-namespace.ts";

const cluster = await Cluster.open();
let scripts: ScriptsNamespace;
const settled = new AsyncDisposableStack();

beforeAll(async () => {
  scripts = settled.use(await makeScriptsNamespace(cluster));
  // An API server takes a moment to heed a policy, and to learn of its parameter.
  const isHeeded = async (): Promise<void> => {
    expect(await refusal(podOf("job"), (pod) => (pod.spec["hostname"] = "x"))).toMatch(/has no other fields/);
    expect(await refusal(podOf("job"))).toBe("");
  };
  await vi.waitFor(isHeeded, { timeout: 60_000, interval: 500 });
});
afterAll(() => settled.disposeAsync());

// biome-ignore lint/suspicious/noExplicitAny: tests change whatever they like
type Json = Record<string, any>;

interface MutablePod {
  apiVersion: string;
  kind: string;
  metadata: Json;
  spec: Json;
}

const hex = (digits: number): string => randomBytes(digits / 2).toString("hex");
const MIB = 1024 * 1024;
const PACKAGES_BYTES = 768 * MIB;

/** Pods as the manager makes them. */
const kinds = {
  warm: { command: scriptCommand(defaultSandboxLimits, undefined), limits: defaultSandboxLimits, activeMs: 3_930_000 },
  job: { command: scriptCommand(defaultSandboxLimits, undefined), limits: defaultSandboxLimits, activeMs: 330_000 },
  "with packages": {
    command: scriptCommand(defaultSandboxLimits, PACKAGES_BYTES),
    limits: defaultSandboxLimits,
    activeMs: 570_000,
    packagesBytes: PACKAGES_BYTES,
  },
  installer: { command: installerCommand("python3"), limits: installerLimits, activeMs: 210_000 },
} as const;

function podOf(kind: keyof typeof kinds): MutablePod {
  const { command, limits, activeMs, ...more } = kinds[kind];
  const isInstaller = kind === "installer";
  const identity = {
    name: `rockbot-script-${hex(32)}`,
    owner: `${hex(16)}${isInstaller ? ".installer" : ""}`,
    attempt: hex(16),
    jobId: kind === "job" ? hex(32) : undefined,
    deadlineMs: 25_000,
    activeMs,
  };
  return JSON.parse(JSON.stringify(podSpec(identity, { command, limits, ...more, ...scripts.podNames })));
}

/** What the API server says to the manager who makes that pod; nothing, if it takes it. */
async function refusal(pod: MutablePod, mutate: (pod: MutablePod) => unknown = () => {}): Promise<string> {
  mutate(pod);
  const create = cluster.kubectlAs(
    scripts.token,
    ["--namespace", scripts.name, "create", "--dry-run=server", "--validate=false", "--filename", "-"],
    {
      input: JSON.stringify(pod),
    },
  );
  return await create.then(
    () => "",
    (error: Error) => error.message,
  );
}

const container = (pod: MutablePod): Json => pod.spec["containers"][0];

test.each(Object.keys(kinds) as (keyof typeof kinds)[])("a pod is taken as the manager makes it: %s", async (kind) => {
  expect(await refusal(podOf(kind))).toBe("");
});

const mutations: Readonly<Record<string, readonly [(pod: MutablePod) => unknown, RegExp?]>> = {
  "another image": [(pod) => (container(pod)["image"] = "redis:8"), /allowed images/],
  "another account": [(pod) => (pod.spec["serviceAccountName"] = "default"), /account without rights/],
  "a token": [(pod) => (pod.spec["automountServiceAccountToken"] = true), /mounts no token/],
  "a token, unsaid": [(pod) => delete pod.spec["automountServiceAccountToken"], /mounts no token/],
  "a writable root": [(pod) => (container(pod)["securityContext"].readOnlyRootFilesystem = false), /securityContext/],
  "a second container": [(pod) => pod.spec["containers"].push({ ...container(pod), name: "two" }), /one container/],
  "an init container": [
    (pod) => (pod.spec["initContainers"] = [{ ...container(pod), name: "two", stdin: false, stdinOnce: false }]),
    /no other fields/,
  ],
  "a variable from a secret": [
    (pod) => container(pod)["env"].push({ name: "A", valueFrom: { secretKeyRef: { name: "a", key: "b" } } }),
    /env/,
  ],
  "a variable of its own": [(pod) => container(pod)["env"].push({ name: "A", value: "b" }), /env/],
  "all variables of a secret": [
    (pod) => (container(pod)["envFrom"] = [{ secretRef: { name: "a" } }]),
    /no other fields/,
  ],
  "a folder of the node": [(pod) => pod.spec["volumes"].push({ name: "h", hostPath: { path: "/" } })],
  "a volume of a secret": [
    (pod) => pod.spec["volumes"].push({ name: "s", secret: { secretName: "s" } }),
    /no other volumes/,
  ],
  "a projected token": [
    (pod) => pod.spec["volumes"].push({ name: "t", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }),
    /no other volumes/,
  ],
  "a larger folder": [(pod) => (pod.spec["volumes"][0].emptyDir.sizeLimit = "1Gi"), /bounded size/],
  "a folder without a bound": [(pod) => delete pod.spec["volumes"][0].emptyDir.sizeLimit, /bounded size/],
  "queues that can be written to": [
    (pod) =>
      (container(pod)["volumeMounts"] = container(pod)["volumeMounts"].filter((one: Json) => one["name"] !== "closed")),
    /where the manager puts them/,
  ],
  "a folder mounted elsewhere": [
    (pod) => (container(pod)["volumeMounts"][0].mountPath = "/usr"),
    /where the manager puts them/,
  ],
  "the node's network": [(pod) => (pod.spec["hostNetwork"] = true)],
  "the node's processes": [(pod) => (pod.spec["hostPID"] = true)],
  "the node's shared memory": [(pod) => (pod.spec["hostIPC"] = true)],
  privileged: [(pod) => (container(pod)["securityContext"].privileged = true)],
  "more privileges": [(pod) => (container(pod)["securityContext"].allowPrivilegeEscalation = true)],
  "a capability": [
    (pod) => (container(pod)["securityContext"].capabilities = { drop: ["ALL"], add: ["NET_BIND_SERVICE"] }),
    /securityContext/,
  ],
  root: [(pod) => (pod.spec["securityContext"].runAsUser = 0)],
  "another user": [(pod) => (pod.spec["securityContext"].runAsUser = 1_000), /securityContext/],
  "no seccomp": [
    (pod) => {
      delete pod.spec["securityContext"].seccompProfile;
      delete container(pod)["securityContext"].seccompProfile;
    },
  ],
  "a node by name": [(pod) => (pod.spec["nodeName"] = "any"), /no other fields/],
  "a node by label": [(pod) => (pod.spec["nodeSelector"] = { a: "b" }), /no other fields/],
  affinity: [(pod) => (pod.spec["affinity"] = { podAffinity: {} }), /no other fields/],
  "a system priority": [(pod) => (pod.spec["priorityClassName"] = "system-node-critical"), /priority class|forbidden/],
  "another scheduler": [(pod) => (pod.spec["schedulerName"] = "mine"), /schedulerName/],
  "no deadline": [(pod) => delete pod.spec["activeDeadlineSeconds"], /activeDeadlineSeconds/],
  "a deadline in days": [(pod) => (pod.spec["activeDeadlineSeconds"] = 864_000), /activeDeadlineSeconds/],
  "tolerance of every taint": [(pod) => (pod.spec["tolerations"] = [{ operator: "Exists" }]), /no other taints/],
  "tolerance of one more taint": [
    (pod) => pod.spec["tolerations"].push({ key: "dedicated", operator: "Exists" }),
    /no other taints/,
  ],
  "another command": [(pod) => (container(pod)["command"] = ["sh", "-c", "sleep 1000"]), /own program/],
  "another program": [(pod) => (container(pod)["command"][7] = "print(1)"), /own program/],
  "other bounds, in words": [
    (pod) =>
      (container(pod)["command"][8] = container(pod)["command"][8].replace(
        '"endsWithInput":false',
        '"endsWithInput":true',
      )),
    /own program/,
  ],
  "arguments besides": [(pod) => (container(pod)["args"] = ["x"]), /no other fields/],
  "another folder to work in": [(pod) => (container(pod)["workingDir"] = "/usr"), /workingDir/],
  "a hook of its life": [
    (pod) => (container(pod)["lifecycle"] = { postStart: { exec: { command: ["id"] } } }),
    /no other fields/,
  ],
  "a probe": [(pod) => (container(pod)["livenessProbe"] = { exec: { command: ["id"] } }), /no other fields/],
  "a port of the node": [(pod) => (container(pod)["ports"] = [{ containerPort: 80, hostPort: 80 }])],
  "a device": [(pod) => (container(pod)["volumeDevices"] = [{ name: "tmp", devicePath: "/dev/x" }])],
  "no limits": [(pod) => delete container(pod)["resources"], /asks for as much/],
  "more memory": [(pod) => (container(pod)["resources"] = { limits: huge, requests: huge }), /settings say/],
  "less asked for than used": [
    (pod) => (container(pod)["resources"].requests = { ...container(pod)["resources"].requests, memory: "1Mi" }),
    /asks for as much/,
  ],
  "a restart": [(pod) => (pod.spec["restartPolicy"] = "Always"), /restartPolicy/],
  "a name service": [(pod) => (pod.spec["dnsConfig"].nameservers = ["192.0.2.53"]), /dnsConfig/],
  "the cluster's name service": [(pod) => (pod.spec["dnsPolicy"] = "ClusterFirst"), /dnsPolicy/],
  "the Services in its variables": [(pod) => (pod.spec["enableServiceLinks"] = true), /enableServiceLinks/],
  "names of hosts": [(pod) => (pod.spec["hostAliases"] = [{ ip: "192.0.2.1", hostnames: ["a"] }]), /no other fields/],
  "shared processes": [(pod) => (pod.spec["shareProcessNamespace"] = true), /shareProcessNamespace/],
  "time to end": [(pod) => (pod.spec["terminationGracePeriodSeconds"] = 600), /terminationGracePeriodSeconds/],
  "another name": [(pod) => (pod.metadata["name"] = "mine"), /named as the manager names it/],
  "a label of its own": [
    (pod) => (pod.metadata["labels"]["app.kubernetes.io/name"] = "gateway"),
    /labels that the manager gives/,
  ],
  "no label of ours": [(pod) => delete pod.metadata["labels"].app, /labels that the manager gives/],
  "a state that it has not": [
    (pod) => (pod.metadata["labels"]["rockbot.dev/state"] = "warm"),
    /begins as one that starts/,
  ],
  "an annotation of its own": [
    (pod) => (pod.metadata["annotations"]["container.apparmor.security.beta.kubernetes.io/script"] = "unconfined"),
    /annotations that the manager gives|forbidden/,
  ],
  "a finalizer": [(pod) => (pod.metadata["finalizers"] = ["example.com/stuck"]), /no finalizers/],
  "an owner": [
    (pod) => (pod.metadata["ownerReferences"] = [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "x" }]),
    /has no owner/,
  ],
};
const huge = { memory: "8Gi", cpu: "1", "ephemeral-storage": "1Gi" };

describe("a pod is refused with the manager's own token", () => {
  test.each(Object.entries(mutations))("%s", async (_, [mutate, words = /forbidden|denied|invalid/i]) => {
    const said = await refusal(podOf("job"), mutate);
    expect(said).toMatch(/forbidden|denied|invalid/i);
    expect(said).toMatch(words);
  });

  test("the installer's memory for a script, and the installer's command with another program", async () => {
    const resources = container(podOf("installer"))["resources"];
    expect(await refusal(podOf("job"), (pod) => (container(pod)["resources"] = resources))).toMatch(/settings say/);
    expect(await refusal(podOf("installer"), (pod) => (container(pod)["command"][6] = "print(1)"))).toMatch(
      /own program/,
    );
  });
});

test("a pod of the manager runs, is given a job, and may be changed in nothing but its marks", async () => {
  await using maker = kubernetesMaker({
    kubeconfigFile: scripts.kubeconfigFile,
    namespace: scripts.name,
    limits: { ...defaultSandboxLimits, processors: 0.1 },
    ...scripts.podNames,
  });
  const signal = AbortSignal.timeout(120_000);
  const job = { id: hex(32), script: "print(6 * 7)", timeoutMs: 20_000 };
  await using sandbox = await maker.make({ signal });
  await sandbox.assign?.(job);
  const patch = (body: object): Promise<string> =>
    cluster
      .kubectlAs(scripts.token, [
        ...["--namespace", scripts.name, "patch", "pod", name, "--dry-run=server"],
        ...[`--type=${Array.isArray(body) ? "json" : "merge"}`, "--patch", JSON.stringify(body)],
      ])
      .then(
        () => "",
        (error: Error) => error.message,
      );
  const [{ metadata }] = (
    await cluster.json<{ items: [{ metadata: { name: string } }] }>(["--namespace", scripts.name, "get", "pods"])
  ).items;
  const { name } = metadata;

  expect(await patch({ metadata: { labels: { "rockbot.dev/job": hex(32) } } })).toMatch(/keeps its job/);
  expect(await patch({ metadata: { labels: { mine: "x" } } })).toMatch(/labels that the manager gives/);
  expect(await patch({ metadata: { annotations: { mine: "x" } } })).toMatch(/annotations that the manager gives/);
  expect(await patch({ metadata: { finalizers: ["example.com/stuck"] } })).toMatch(/no finalizers/);
  expect(await patch({ spec: { activeDeadlineSeconds: 60 } })).toMatch(/only labels and annotations change/);
  expect(await patch([{ op: "replace", path: "/spec/containers/0/image", value: "redis:8" }])).toMatch(
    /only labels and annotations change/,
  );
  expect((await runJob(sandbox, job, { signal, keepBytes: 1_000 })).stdout).toBe("42\n");
});
