import { forbidden } from "../store/api-failure.ts";
import type { ObjectStore } from "../store/object-store.ts";
import type { KubeObject, Pod } from "../store/objects.ts";
import { amountOf } from "../store/quantity.ts";

type Amounts = Readonly<Record<string, string>>;
type LimitRange = KubeObject & {
  readonly spec: {
    readonly limits: readonly {
      readonly type: string;
      readonly max?: Amounts;
      readonly min?: Amounts;
      readonly default?: Amounts;
      readonly defaultRequest?: Amounts;
    }[];
  };
};
type ResourceQuota = KubeObject & { readonly spec: { readonly hard: Amounts } };

/** A pod with the defaults of its namespace's LimitRanges. */
export function withLimitDefaults(store: ObjectStore, pod: Pod): Pod {
  const ranges = containerRanges(store, pod.metadata.namespace);
  if (ranges.length === 0) return pod;
  const limits = Object.assign({}, ...ranges.map((range) => range.default)) as Amounts;
  const requests = Object.assign({}, limits, ...ranges.map((range) => range.defaultRequest)) as Amounts;
  const containers = pod.spec.containers.map((container) => ({
    ...container,
    resources: {
      limits: { ...limits, ...container.resources?.limits },
      requests: { ...requests, ...container.resources?.limits, ...container.resources?.requests },
    },
  }));
  return { ...pod, spec: { ...pod.spec, containers } };
}

/** @throws {ApiFailure} 403 with all that is outside the namespace's LimitRanges */
export function checkLimits(store: ObjectStore, pod: Pod): void {
  const faults = containerRanges(store, pod.metadata.namespace).flatMap(({ max = {}, min = {} }) =>
    pod.spec.containers.flatMap(({ resources }) => [
      ...Object.entries(max).flatMap(([name, most]) => {
        const limit = resources?.limits?.[name];
        if (limit === undefined) return [`maximum ${name} usage per Container is ${most}.  No limit is specified`];
        return amountOf(limit) > amountOf(most)
          ? [`maximum ${name} usage per Container is ${most}, but limit is ${limit}`]
          : [];
      }),
      ...Object.entries(min).flatMap(([name, least]) => {
        const request = resources?.requests?.[name];
        if (request === undefined) return [`minimum ${name} usage per Container is ${least}.  No request is specified`];
        return amountOf(request) < amountOf(least)
          ? [`minimum ${name} usage per Container is ${least}, but request is ${request}`]
          : [];
      }),
    ]),
  );
  if (faults.length === 0) return;
  throw forbidden("pods", pod.metadata.name, faults.length === 1 ? String(faults[0]) : `[${faults.join(", ")}]`);
}

/**
 * @throws {ApiFailure} 403 if the pod with those that have not ended is more than a ResourceQuota of its namespace
 * allows
 */
export function checkQuota(store: ObjectStore, pod: Pod): void {
  const { namespace } = pod.metadata;
  const others = (store.list("pods", namespace) as readonly Pod[]).filter(
    ({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed",
  );
  for (const { metadata, spec } of store.list("resourcequotas", namespace) as readonly ResourceQuota[]) {
    const unsaid = Object.keys(spec.hard).filter(
      (name) => /^(limits|requests)\./.test(name) && usage(pod, name) === undefined,
    );
    if (unsaid.length > 0)
      throw forbidden(
        "pods",
        pod.metadata.name,
        `failed quota: ${metadata.name}: must specify ${unsaid.map((name) => `${name} for: ${pod.spec.containers.map((one) => one.name).join(",")}`).join("; ")}`,
      );
    const over = Object.entries(spec.hard).filter(([name, hard]) => sum([...others, pod], name) > amountOf(hard));
    if (over.length > 0) {
      const list = (part: (name: string, hard: string) => number | string): string =>
        over.map(([name, hard]) => `${name}=${part(name, hard)}`).join(",");
      throw forbidden(
        "pods",
        pod.metadata.name,
        `exceeded quota: ${metadata.name}, requested: ${list((name) => usage(pod, name) ?? 0)}, used: ${list((name) => sum(others, name))}, limited: ${list((_name, hard) => hard)}`,
      );
    }
  }
}

function containerRanges(store: ObjectStore, namespace: string | undefined): LimitRange["spec"]["limits"] {
  return (store.list("limitranges", namespace) as readonly LimitRange[]).flatMap(({ spec }) =>
    spec.limits.filter(({ type }) => type === "Container"),
  );
}

const sum = (pods: readonly Pod[], name: string): number =>
  pods.reduce((total, pod) => total + (usage(pod, name) ?? 0), 0);

/** What a pod takes of a quota's resource; undefined if it does not say. */
function usage({ spec }: Pod, name: string): number | undefined {
  if (name === "pods" || name === "count/pods") return 1;
  const [part, resource] = name.includes(".") ? name.split(/\.(.*)/) : ["requests", name];
  if (part !== "limits" && part !== "requests") return 0;
  const amounts = spec.containers.map(({ resources }) => resources?.[part]?.[resource ?? ""]);
  return amounts.some((amount) => amount === undefined)
    ? undefined
    : amounts.reduce((total, amount) => total + amountOf(amount ?? 0), 0);
}
