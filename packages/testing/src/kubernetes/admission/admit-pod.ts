import { forbidden, invalid } from "../store/api-failure.ts";
import type { ObjectStore } from "../store/object-store.ts";
import type { KubeObject, Pod } from "../store/objects.ts";
import { defaultPod } from "./default-pod.ts";
import { POD_SECURITY_LABEL, podSecurityViolations } from "./pod-security.ts";
import { checkLimits, checkQuota, withLimitDefaults } from "./quota.ts";
import { podFaults } from "./validate-pod.ts";

const TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * A new pod as it is stored: defaults filled in, then what admission adds, then all that it refuses, in the API
 * server's order.
 * @throws {ApiFailure} 403 or 422
 */
export function admitPod(store: ObjectStore, asked: Pod): Pod {
  const pod = withPriority(store, withToken(store, defaultPod(withLimitDefaults(store, asked))));
  checkRuntimeClass(store, pod);
  checkLimits(store, pod);
  checkPodSecurity(store, pod);
  const faults = podFaults(pod);
  if (faults.length > 0) throw invalid("Pod", pod.metadata.name, faults);
  checkQuota(store, pod);
  return pod;
}

function withToken(store: ObjectStore, pod: Pod): Pod {
  const { namespace, name } = pod.metadata;
  const accountName = pod.spec.serviceAccountName ?? "default";
  const account = store.find("serviceaccounts", namespace, accountName) as
    | (KubeObject & { readonly automountServiceAccountToken?: boolean })
    | undefined;
  if (account === undefined)
    throw forbidden(
      "pods",
      name,
      `error looking up service account ${namespace}/${accountName}: serviceaccount "${accountName}" not found`,
    );
  if (!(pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)) return pod;
  const volume = {
    name: "kube-api-access-test1",
    projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 3607 } }] },
  };
  const mount = { name: volume.name, mountPath: TOKEN_FOLDER, readOnly: true };
  return {
    ...pod,
    spec: {
      ...pod.spec,
      volumes: [...(pod.spec.volumes ?? []), volume],
      containers: pod.spec.containers.map((container) => ({
        ...container,
        volumeMounts: [...(container.volumeMounts ?? []), mount],
      })),
    },
  };
}

function withPriority(store: ObjectStore, pod: Pod): Pod {
  const { priorityClassName } = pod.spec;
  if (priorityClassName === undefined || priorityClassName === "") return pod;
  const found = store.find("priorityclasses", undefined, priorityClassName) as
    | (KubeObject & { readonly value: number })
    | undefined;
  if (found === undefined)
    throw forbidden("pods", pod.metadata.name, `no PriorityClass with name ${priorityClassName} was found`);
  return { ...pod, spec: { ...pod.spec, priority: found.value } };
}

function checkRuntimeClass(store: ObjectStore, { metadata, spec }: Pod): void {
  const { runtimeClassName } = spec;
  if (runtimeClassName === undefined || store.find("runtimeclasses", undefined, runtimeClassName) !== undefined) return;
  throw forbidden("pods", metadata.name, `pod rejected: RuntimeClass "${runtimeClassName}" not found`);
}

function checkPodSecurity(store: ObjectStore, pod: Pod): void {
  const level = store.find("namespaces", undefined, pod.metadata.namespace ?? "")?.metadata.labels?.[
    POD_SECURITY_LABEL
  ];
  const violations = podSecurityViolations(level, pod);
  if (violations.length > 0)
    throw forbidden("pods", pod.metadata.name, `violates PodSecurity "${level}:latest": ${violations.join(", ")}`);
}
