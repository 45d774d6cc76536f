import { ApiFailure, badRequest, conflict, forbidden } from "../store/api-failure.ts";
import type { Pod } from "../store/objects.ts";
import type { PodStore } from "../store/pod-store.ts";
import { type ApiRequest, selectorOf } from "./request-of.ts";

export interface AnswerPodsOptions {
  /** The most pods that a quota grants. */
  readonly mostPods: number;
  /** Put on each new pod. */
  readonly finalizers: readonly string[];
}

export interface PodsAnswer {
  readonly code: number;
  readonly body: object;
}

/** A pod as it is sent by itself. */
export const asSent = (pod: Pod): Pod => ({ ...pod, apiVersion: "v1", kind: "Pod" });

/** Does what a request asks for, and says what to answer. @throws {ApiFailure} */
export function answerPods(
  store: PodStore,
  request: ApiRequest,
  body: unknown,
  options: AnswerPodsOptions,
): PodsAnswer {
  const { verb, namespace, name = "", query } = request;
  switch (verb) {
    case "list":
      return { code: 200, body: pageOf(store.list(namespace).filter(selectorOf(query)), store.version, query) };
    case "get":
      return { code: 200, body: asSent(store.get(namespace, name)) };
    case "create":
      return { code: 201, body: asSent(createPod(store, namespace, body as Pod, options)) };
    case "patch":
      return { code: 200, body: asSent(patchPod(store, store.get(namespace, name), body as Partial<Pod>)) };
    case "delete":
      return { code: 200, body: asSent(deletePod(store, store.get(namespace, name), (body ?? {}) as DeleteOptions)) };
    default:
      throw new ApiFailure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
  }
}

/** A later page is read from what is there then, not as it was at the first. */
function pageOf(pods: readonly Pod[], version: number, query: URLSearchParams): object {
  const after = query.get("continue") ?? "";
  const rest = pods.filter(({ metadata }) => metadata.name > after);
  const items = rest.slice(0, Number(query.get("limit") ?? rest.length));
  const next = items.length < rest.length ? { continue: items.at(-1)?.metadata.name } : {};
  return { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: String(version), ...next }, items };
}

function createPod(
  store: PodStore,
  namespace: string,
  { metadata, spec }: Pod,
  { mostPods, finalizers }: AnswerPodsOptions,
): Pod {
  const used = store.list(namespace).filter(({ status }) => !hasEnded(status?.phase)).length;
  if (used >= mostPods)
    throw forbidden(
      metadata.name,
      `exceeded quota: pods, requested: pods=1, used: pods=${used}, limited: pods=${mostPods}`,
    );
  const held = finalizers.length === 0 ? {} : { finalizers };
  return store.create({ metadata: { ...metadata, namespace, ...held }, spec, status: { phase: "Pending" } });
}

const hasEnded = (phase: string | undefined): boolean => phase === "Succeeded" || phase === "Failed";

/** By a merge patch of labels and annotations: an admission policy lets nothing else change. */
function patchPod(store: PodStore, pod: Pod, { metadata: patch, spec }: Partial<Pod>): Pod {
  if (spec !== undefined || patch === undefined) throw badRequest("only labels and annotations change");
  const labels = { ...pod.metadata.labels, ...patch.labels };
  const annotations = { ...pod.metadata.annotations, ...patch.annotations };
  const expectedVersion = patch.resourceVersion;
  return store.update({ ...pod, metadata: { ...pod.metadata, labels, annotations } }, { expectedVersion });
}

interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string };
}

/** Ends a pod at once. One that finalizers hold is marked, and stays. */
function deletePod(store: PodStore, pod: Pod, { gracePeriodSeconds, preconditions }: DeleteOptions): Pod {
  const { name, namespace, uid, finalizers = [] } = pod.metadata;
  if (gracePeriodSeconds !== 0) throw badRequest("the test API server ends pods without grace only");
  if (preconditions?.uid !== undefined && preconditions.uid !== uid)
    throw conflict(name, `Precondition failed: UID in precondition: ${preconditions.uid}, UID in object meta: ${uid}`);
  return finalizers.length === 0 ? store.remove(namespace, name) : store.markDeleted(pod, 0);
}
