import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { type KubernetesApi, startKubernetesApi } from "./start-kubernetes-api.ts";
import type { Metadata, Pod } from "./store/objects.ts";
import { testPod } from "./test-pod.ts";

const PODS = "/api/v1/namespaces/default/pods";

/** Whose pods stay pending. */
async function started(): Promise<KubernetesApi> {
  const api = await startKubernetesApi();
  api.node.isCordoned = true;
  return api;
}

async function open({ connection }: KubernetesApi, method: string, path: string, body?: object) {
  const { server, certificate, token } = connection;
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = { authorization: `Bearer ${token}`, "content-length": Buffer.byteLength(text) };
  const sent = request(`${server}${path}`, { method, ca: certificate, headers, agent: false });
  sent.end(text);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

async function ask(api: KubernetesApi, method: string, path: string, body?: object) {
  const response = await open(api, method, path, body);
  const answer = JSON.parse((await response.toArray()).join("")) as {
    readonly reason?: string;
    readonly metadata: Metadata & { readonly continue?: string };
    readonly items?: readonly Pod[];
  };
  return { code: response.statusCode, headers: response.headers, body: answer };
}

const create = (api: KubernetesApi, name: string) => ask(api, "POST", PODS, testPod(name));
const remove = { gracePeriodSeconds: 0 };

/** What pods come and go. */
async function take(api: KubernetesApi, query: string, count: number): Promise<readonly string[]> {
  const response = await open(api, "GET", `${PODS}?watch=true&${query}`);
  const lines = createInterface(response).on("error", () => {}); // it is left in the middle
  const taken: string[] = [];
  for await (const line of lines) {
    const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Pod & { code?: number } };
    if (type !== "MODIFIED") taken.push(`${type} ${object.metadata.name ?? object.code}`);
    if (taken.length === count) break;
  }
  return taken;
}

test("a watch goes on from a list's version, and is cut or told 410 as the test wishes", async () => {
  await using api = await started();
  await create(api, "one");
  const { body } = await ask(api, "GET", PODS);
  await create(api, "two");
  await ask(api, "DELETE", `${PODS}/one`, remove);
  const query = `resourceVersion=${body.metadata.resourceVersion}`;
  expect(await take(api, query, 2)).toEqual(["ADDED two", "DELETED one"]);

  const wishes = ["closed", "expired", "halfLine"] as const;
  api.faults.push(...wishes.map((kind) => ({ kind, verb: "watch", afterEvents: 0 })));
  expect(await take(api, query, 2)).toEqual([]);
  expect(await take(api, query, 2)).toEqual(["ERROR 410"]);
  await expect(take(api, query, 2)).rejects.toThrow(SyntaxError);
});

test("a pod is marked by one of two who know the same version, and is deleted by its own uid only", async () => {
  await using api = await started();
  const { body } = await create(api, "one");
  expect(await create(api, "one")).toMatchObject({ code: 409, body: { reason: "AlreadyExists" } });
  await expect.poll(() => JSON.stringify(api.pods())).toContain("Unschedulable"); // nothing changes it any more
  const { resourceVersion } = api.pods()[0]?.metadata ?? {};
  const mark = (job: string) => ask(api, "PATCH", `${PODS}/one`, { metadata: { resourceVersion, labels: { job } } });
  expect((await Promise.all([mark("first"), mark("second")])).map(({ code }) => code).sort()).toEqual([200, 409]);

  const removeOf = (uid?: string) => ask(api, "DELETE", `${PODS}/one`, { ...remove, preconditions: { uid } });
  expect(await removeOf("another")).toMatchObject({ code: 409, body: { reason: "Conflict" } });
  expect(await removeOf(body.metadata.uid)).toMatchObject({ code: 200 });
  expect(await removeOf(body.metadata.uid)).toMatchObject({ code: 404 });
});

test("a list is read page by page", async () => {
  await using api = await started();
  for (const name of ["a", "b", "c"]) await create(api, name);
  const { body: first } = await ask(api, "GET", `${PODS}?limit=2`);
  const { body: second } = await ask(api, "GET", `${PODS}?limit=2&continue=${first.metadata.continue}`);

  const names = [first, second].map(({ items = [] }) => items.map(({ metadata }) => metadata.name));
  expect(names).toEqual([["a", "b"], ["c"]]);
  expect(second.metadata.continue).toBeUndefined();
});

test("a fault has its status, or leaves a thing done whose answer is lost, or loses it undone", async () => {
  await using api = await started();
  api.faults.push(
    { kind: "status", code: 429, retryAfterSeconds: 3, verb: "create", times: 2 },
    { kind: "commitThenDrop", verb: "create" },
    { kind: "drop", verb: "create" },
  );
  for (const _ of [1, 2])
    expect(await create(api, "done")).toMatchObject({ code: 429, headers: { "retry-after": "3" } });
  await expect(create(api, "done")).rejects.toThrow("socket hang up");
  await expect(create(api, "undone")).rejects.toThrow("socket hang up");

  expect(api.pods().map(({ metadata }) => metadata.name)).toEqual(["done"]);
  expect(api.requests.map(({ status }) => status)).toEqual([429, 429, undefined, undefined]);
});
