import type { Container, Pod } from "../store/objects.ts";

/** What the API server fills in where a pod says nothing. */
export function defaultPod(pod: Pod): Pod {
  const { spec } = pod;
  return {
    ...pod,
    spec: {
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      schedulerName: "default-scheduler",
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
      priority: 0,
      terminationGracePeriodSeconds: 30,
      tolerations: ["not-ready", "unreachable"].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
      ...spec,
      securityContext: spec.securityContext ?? {},
      serviceAccountName: spec.serviceAccountName ?? "default",
      serviceAccount: spec.serviceAccountName ?? "default",
      containers: spec.containers.map(defaultContainer),
      ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(defaultContainer) }),
    } as Pod["spec"],
    status: { phase: "Pending", qosClass: qualityOf(spec.containers) },
  };
}

function defaultContainer(container: Container): Container {
  const isLatest = !/[:@][^/]+$/.test(container.image ?? "") || container.image?.endsWith(":latest") === true;
  const { limits, requests } = container.resources ?? {};
  return {
    imagePullPolicy: isLatest ? "Always" : "IfNotPresent",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
    resources: limits === undefined ? (container.resources ?? {}) : { limits, requests: { ...limits, ...requests } },
  } as Container;
}

function qualityOf(containers: readonly Container[]): string {
  const asks = containers.map(({ resources }) => resources ?? {});
  if (asks.every(({ limits, requests }) => limits === undefined && requests === undefined)) return "BestEffort";
  const isGuaranteed = asks.every(({ limits = {}, requests = limits }) =>
    ["cpu", "memory"].every((name) => limits[name] !== undefined && (requests[name] ?? limits[name]) === limits[name]),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
