import { randomBytes } from "node:crypto";
import { admitPod } from "../admission/admit-pod.ts";
import { metadataFaults } from "../admission/validate-metadata.ts";
import { removePod } from "../remove-pod.ts";
import { ApiFailure, badRequest, conflict, invalid } from "../store/api-failure.ts";
import { createNamespace, removeNamespace } from "../store/namespaces.ts";
import type { ObjectStore } from "../store/object-store.ts";
import { type KubeObject, type Pod, timestamp } from "../store/objects.ts";
import { patchObject } from "../store/patch-object.ts";
import { apiVersionOf } from "../store/resources.ts";
import type { ApiRequest } from "./request-of.ts";

const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** @throws {ApiFailure} 400, 403, 404 for a namespace that is not there, 409 or 422 */
export function createObject(
  store: ObjectStore,
  { act, resource }: ApiRequest,
  body: unknown,
  podFinalizers: readonly string[],
): KubeObject {
  const asked = body as KubeObject | undefined;
  if (asked?.metadata === undefined) throw badRequest("Object 'Kind' is missing in the request body");
  if (asked.kind !== undefined && (asked.kind !== resource.kind || asked.apiVersion !== apiVersionOf(resource)))
    throw badRequest(`${asked.kind} in version "${asked.apiVersion}" cannot be handled as a ${resource.kind}`);
  const { name = "", generateName, namespace = act.namespace } = asked.metadata;
  if (namespace !== act.namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if (resource.isNamespaced) store.get("namespaces", undefined, act.namespace ?? "");
  const fullName = name === "" && generateName !== undefined ? `${generateName.slice(0, 58)}${suffix()}` : name;
  const metadata = {
    ...asked.metadata,
    name: fullName,
    ...(act.namespace === undefined || !resource.isNamespaced ? {} : { namespace: act.namespace }),
  };
  const { apiVersion: _version, kind: _kind, ...object } = { ...asked, metadata };
  if (act.resource === "pods") {
    const finalizers = [...(metadata.finalizers ?? []), ...podFinalizers];
    return store.create(
      "pods",
      admitPod(store, { ...object, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers } } as Pod),
    );
  }
  const faults = metadataFaults(metadata);
  if (faults.length > 0) throw invalid(resource.kind, fullName, faults);
  return act.resource === "namespaces" ? createNamespace(store, object) : store.create(act.resource, object);
}

const suffix = (): string => [...randomBytes(5)].map((byte) => SUFFIX_LETTERS[byte % SUFFIX_LETTERS.length]).join("");

/** @throws {ApiFailure} 404; 409 if the patch names another version; 415; 422 */
export function applyPatch(
  store: ObjectStore,
  { act, resource }: ApiRequest,
  mediaType: string,
  patch: unknown,
): KubeObject {
  const name = act.name ?? "";
  const before = store.get(act.resource, act.namespace, name);
  const patched = patchObject(mediaType, before, patch) as KubeObject;
  if (patched.metadata.name !== name) throw badRequest("the name of the object does not match the name on the URL");
  const expectedVersion = patched.metadata.resourceVersion;
  if (patched.metadata.uid !== before.metadata.uid)
    throw conflict(
      act.resource,
      name,
      `Precondition failed: UID in precondition: ${patched.metadata.uid}, UID in object meta: ${before.metadata.uid}`,
    );
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = before.metadata;
  const kept = Object.fromEntries(
    Object.entries({ creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const { apiVersion: _version, kind: _kind, ...object } = { ...patched, metadata: { ...patched.metadata, ...kept } };
  const faults = metadataFaults(object.metadata);
  if (faults.length > 0) throw invalid(resource.kind, name, faults);
  if (act.resource !== "pods") return store.update(act.resource, object, { expectedVersion });
  const pod = { ...object, status: (before as Pod).status } as Pod;
  checkFixedSpec(before as Pod, pod);
  const updated = store.update("pods", pod, { expectedVersion });
  const isReleased =
    updated.metadata.deletionTimestamp !== undefined && (updated.metadata.finalizers ?? []).length === 0;
  return isReleased && updated.metadata.deletionGracePeriodSeconds === 0
    ? store.remove("pods", act.namespace, name)
    : updated;
}

function checkFixedSpec(before: Pod, after: Pod): void {
  const fixed = ({
    spec: { activeDeadlineSeconds: _deadline, terminationGracePeriodSeconds: _grace, containers, ...spec },
  }: Pod): string =>
    JSON.stringify({ ...spec, containers: containers.map(({ image: _image, ...container }) => container) });
  if (fixed(before) === fixed(after)) return;
  throw invalid("Pod", after.metadata.name, [
    {
      reason: "FieldValueForbidden",
      field: "spec",
      message:
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    },
  ]);
}

interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: string;
}

/**
 * Ends a pod: one that runs is marked, and removed by its node when it has ended; one that does not, or is given no
 * grace, is removed at once.
 * @throws {ApiFailure} 404, or 409 if it is not the one that is meant
 */
export function deleteObject(store: ObjectStore, { act, query }: ApiRequest, body: unknown): KubeObject {
  const name = act.name ?? "";
  const object = store.get(act.resource, act.namespace, name);
  const { gracePeriodSeconds = graceIn(query), preconditions = {} } = (body ?? {}) as DeleteOptions;
  checkPreconditions(act.resource, object, preconditions);
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds < 0)
    throw badRequest("gracePeriodSeconds must be greater than or equal to 0");
  if (act.resource === "namespaces") return removeNamespace(store, name);
  if (act.resource !== "pods") return store.remove(act.resource, act.namespace, name);
  const pod = object as Pod;
  const hasEnded = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  const grace =
    pod.spec.nodeName === undefined || hasEnded
      ? 0
      : (gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30);
  if (grace === 0) return removePod(store, pod);
  const before = pod.metadata.deletionGracePeriodSeconds;
  if (before !== undefined && before <= grace) return pod;
  const at = timestamp(new Date(Date.now() + grace * 1_000));
  return store.update("pods", {
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: at, deletionGracePeriodSeconds: grace },
  });
}

function graceIn(query: URLSearchParams): number | undefined {
  const text = query.get("gracePeriodSeconds");
  if (text === null) return undefined;
  if (!/^-?\d+$/.test(text))
    throw new ApiFailure(400, "BadRequest", `strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
}

function checkPreconditions(
  resource: string,
  { metadata }: KubeObject,
  { uid, resourceVersion }: { readonly uid?: string; readonly resourceVersion?: string },
): void {
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(
      resource,
      metadata.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict(
      resource,
      metadata.name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`,
    );
}
