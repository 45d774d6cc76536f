import { ApiException, CoreV1Api, KubeConfig, type V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { scriptsManifests } from "./chart.ts";
import { kubeconfigOf } from "./cluster-connection.ts";
import { type KubernetesApi, startKubernetesApi } from "./start-kubernetes-api.ts";
import type { Container, ContainerSecurityContext, KubeObject, Pod, PodSpec, Volume } from "./store/objects.ts";
import { testPod } from "./test-pod.ts";

const NAMESPACE = "rockbot-scripts";

const started = (more: readonly KubeObject[] = []): Promise<KubernetesApi> =>
  startKubernetesApi({ manifests: [...scriptsManifests(NAMESPACE), ...more], nodes: [] });

/** The status of creating a pod, and the server's words. */
async function created(api: KubernetesApi, pod: Pod): Promise<{ readonly code: number; readonly message: string }> {
  const config = new KubeConfig();
  config.loadFromString(kubeconfigOf(api.admin));
  try {
    await config.makeApiClient(CoreV1Api).createNamespacedPod({ namespace: NAMESPACE, body: pod as unknown as V1Pod });
    return { code: 201, message: "" };
  } catch (error) {
    if (!(error instanceof ApiException)) throw error;
    return { code: error.code, message: (JSON.parse(error.body as string) as { readonly message: string }).message };
  }
}

const withSpec = (change: Partial<PodSpec>): Pod => testPod("one", { spec: change });

function withContainer(change: Partial<Container>): Pod {
  const pod = testPod("one");
  return {
    ...pod,
    spec: { ...pod.spec, containers: pod.spec.containers.map((container) => ({ ...container, ...change })) },
  };
}

const withContext = (change: ContainerSecurityContext): Pod =>
  withContainer({ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, ...change } });

const volume = (kind: object): Pod => withSpec({ volumes: [{ name: "extra", ...kind } as Volume] });
const podContext = { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } };

const violations: Readonly<Record<string, readonly [Pod, string]>> = {
  "the host's network": [withSpec({ hostNetwork: true }), "host namespaces (hostNetwork=true)"],
  "the host's processes": [withSpec({ hostPID: true }), "host namespaces (hostPID=true)"],
  "the host's shared memory": [withSpec({ hostIPC: true }), "host namespaces (hostIPC=true)"],
  "a privileged container": [
    withContext({ privileged: true }),
    'privileged (container "main" must not set securityContext.privileged=true)',
  ],
  "a port of the host": [withContainer({ ports: [{ containerPort: 80, hostPort: 80 }] }), "hostPort"],
  "a capability more": [
    withContext({ capabilities: { drop: ["ALL"], add: ["SYS_ADMIN"] } }),
    "non-default capabilities",
  ],
  "a capability that baseline allows": [
    withContext({ capabilities: { drop: ["ALL"], add: ["CHOWN"] } }),
    "unrestricted capabilities",
  ],
  "capabilities kept": [
    withContext({ capabilities: { drop: ["NET_RAW"] } }),
    'must set securityContext.capabilities.drop=["ALL"]',
  ],
  "a folder of the host": [volume({ hostPath: { path: "/" } }), "hostPath volumes"],
  "a volume of another kind": [volume({ nfs: { server: "a", path: "/" } }), 'restricted volume type "nfs"'],
  "an open /proc": [withContext({ procMount: "Unmasked" }), "procMount"],
  "no AppArmor": [withContext({ appArmorProfile: { type: "Unconfined" } }), "forbidden AppArmor profile"],
  "an SELinux type of its own": [withContext({ seLinuxOptions: { type: "spc_t" } }), "seLinuxOptions"],
  "an SELinux user": [withContext({ seLinuxOptions: { user: "system_u" } }), "seLinuxOptions"],
  "no seccomp at all": [withContext({ seccompProfile: { type: "Unconfined" } }), "seccompProfile"],
  "no seccomp profile": [
    withSpec({ securityContext: { runAsNonRoot: true, runAsUser: 1000 } }),
    "seccompProfile (pod or container",
  ],
  "a sysctl": [
    withSpec({
      securityContext: { ...podContext, sysctls: [{ name: "kernel.msgmax" }] } as PodSpec["securityContext"] & object,
    }),
    "forbidden sysctls (kernel.msgmax)",
  ],
  "a probe of another host": [
    withContainer({ livenessProbe: { httpGet: { host: "10.0.0.1" } } }),
    "probe or lifecycle host",
  ],
  "escalation unsaid": [
    withContainer({ securityContext: { capabilities: { drop: ["ALL"] } } }),
    "allowPrivilegeEscalation != false",
  ],
  "escalation allowed": [withContext({ allowPrivilegeEscalation: true }), "allowPrivilegeEscalation != false"],
  "root unsaid": [
    withSpec({ securityContext: { seccompProfile: { type: "RuntimeDefault" } } }),
    "runAsNonRoot != true",
  ],
  "root allowed in the container": [withContext({ runAsNonRoot: false }), "runAsNonRoot != true"],
  "root by number": [withContext({ runAsUser: 0 }), "runAsUser=0"],
  "root by number in the pod": [withSpec({ securityContext: { ...podContext, runAsUser: 0 } }), "runAsUser=0 (pod"],
  "a process of a Windows host": [withContext({ windowsOptions: { hostProcess: true } }), "hostProcess"],
  "all of it in an init container": [
    withSpec({ initContainers: [{ name: "first", image: "python:3.12-slim" }] }),
    'container "first"',
  ],
};

describe("the restricted profile refuses", () => {
  test.each(Object.entries(violations))("%s", async (_name, [pod, words]) => {
    await using api = await started();
    const { code, message } = await created(api, pod);

    expect(message).toContain(words);
    expect(message).toContain('violates PodSecurity "restricted:latest"');
    expect(code).toBe(403);
  });

  test("nothing of a pod that keeps to it", async () => {
    await using api = await started();
    expect(await created(api, testPod("one"))).toEqual({ code: 201, message: "" });
  });
});

const quota = {
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "few", namespace: NAMESPACE },
  spec: { hard: { pods: "1", "limits.cpu": "2" } },
};
const range = {
  apiVersion: "v1",
  kind: "LimitRange",
  metadata: { name: "small", namespace: NAMESPACE },
  spec: { limits: [{ type: "Container", max: { cpu: "250m" } }] },
};

describe("admission refuses", () => {
  test("more pods than a quota allows", async () => {
    await using api = await started([quota]);
    expect(await created(api, testPod("one"))).toMatchObject({ code: 201 });
    expect(await created(api, testPod("two"))).toEqual({
      code: 403,
      message: 'pods "two" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1',
    });
  });

  test("a container over a limit range", async () => {
    await using api = await started([range]);
    expect(await created(api, testPod("one"))).toEqual({
      code: 403,
      message: 'pods "one" is forbidden: maximum cpu usage per Container is 250m, but limit is 500m',
    });
  });

  test.each([
    ["a service account", { serviceAccountName: "nobody" }, 'serviceaccount "nobody" not found'],
    ["a priority class", { priorityClassName: "nothing" }, "no PriorityClass with name nothing was found"],
    ["a runtime class", { runtimeClassName: "gvisor" }, 'RuntimeClass "gvisor" not found'],
  ])("%s that is not there", async (_what, spec, words) => {
    await using api = await started();
    expect(await created(api, withSpec(spec))).toEqual({ code: 403, message: expect.stringContaining(words) });
  });

  test.each([
    ["a name in capitals", { ...testPod("one"), metadata: { name: "One" } }, "metadata.name: Invalid value"],
    ["a name with a slash", { ...testPod("one"), metadata: { name: "a/b" } }, "metadata.name: Invalid value"],
    [
      "a label of 64 letters",
      testPod("one", { labels: { job: "a".repeat(64) } }),
      "must be no more than 63 characters",
    ],
    ["a label with a line break", testPod("one", { labels: { job: "a\nb" } }), "a valid label must be"],
    ["a label's name with two slashes", testPod("one", { labels: { "a/b/c": "d" } }), "metadata.labels: Invalid value"],
    ["a pod without containers", withSpec({ containers: [] }), "spec.containers: Required value"],
    ["a container without an image", withContainer({ image: "" }), "spec.containers[0].image: Required value"],
    [
      "an unknown restart policy",
      withSpec({ restartPolicy: "Sometimes" }),
      'supported values: "Always", "OnFailure", "Never"',
    ],
    ["a deadline of no time", withSpec({ activeDeadlineSeconds: 0 }), "must be between 1 and 2147483647"],
    [
      "a mount of no volume",
      withContainer({ volumeMounts: [{ name: "none", mountPath: "/x" }] }),
      'volumeMounts[0].name: Not found: "none"',
    ],
    [
      "a request over its limit",
      withContainer({ resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } }),
      "must be less than or equal to cpu limit",
    ],
  ])("%s", async (_what, pod, words) => {
    await using api = await started();
    const answer = await created(api, pod);
    expect(answer.message).toContain(words);
    expect(answer.code).toBe(422);
  });

  test("all faults of a pod at once", async () => {
    await using api = await started();
    const { message } = await created(api, {
      ...withSpec({ restartPolicy: "Sometimes", activeDeadlineSeconds: 0 }),
      metadata: { name: "One" },
    });
    for (const field of ["metadata.name", "spec.restartPolicy", "spec.activeDeadlineSeconds"])
      expect(message).toContain(field);
  });
});

test("a pod that does not refuse its account's token is given it", async () => {
  await using api = await startKubernetesApi({
    manifests: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }],
    nodes: [],
  });
  const { automountServiceAccountToken: _no, ...spec } = testPod("one").spec;
  await created(api, { ...testPod("one"), spec });
  const [pod] = api.list("pods", NAMESPACE) as readonly Pod[];

  expect(pod?.spec.containers[0]?.volumeMounts).toMatchObject([
    { mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
  ]);
});
