import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { type KubernetesApi, startKubernetesApi } from "./start-kubernetes-api.ts";
import type { KubeObject } from "./store/objects.ts";
import { testPod } from "./test-pod.ts";

const PODS = "/api/v1/namespaces/default/pods";

/** Pods stay pending: there is no node. */
const started = (): Promise<KubernetesApi> => startKubernetesApi({ nodes: [] });

interface Answer {
  readonly code: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: KubeObject & {
    readonly items?: readonly KubeObject[];
    readonly reason?: string;
    readonly metadata: { readonly continue?: string };
  };
}

interface AskOptions {
  readonly body?: unknown;
  readonly mediaType?: string;
}

async function open(
  { admin }: KubernetesApi,
  method: string,
  path: string,
  { body, mediaType = "application/json" }: AskOptions = {},
): Promise<IncomingMessage> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${admin.token}`,
    "content-type": mediaType,
    "content-length": Buffer.byteLength(text),
  };
  const sent = request(`${admin.server}${path}`, { method, ca: admin.certificate, headers, agent: false });
  sent.end(text);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

async function ask(api: KubernetesApi, method: string, path: string, options: AskOptions = {}): Promise<Answer> {
  const response = await open(api, method, path, options);
  return {
    code: response.statusCode,
    headers: response.headers,
    body: JSON.parse((await response.toArray()).join("")) as Answer["body"],
  };
}

const create = (api: KubernetesApi, name: string, labels: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  ask(api, "POST", PODS, { body: testPod(name, { labels }) });

interface WatchEvent {
  readonly type: string;
  readonly object: KubeObject & { readonly code?: number };
}

/** The events of a watch as they come; ends with the watch. */
async function* watch(api: KubernetesApi, query: string): AsyncGenerator<WatchEvent> {
  const response = await open(api, "GET", `${PODS}?watch=1&${query}`);
  response.on("error", () => {}); // it may be broken off
  for await (const line of createInterface(response)) yield JSON.parse(line) as WatchEvent;
}

/** What pods come and go; that a pod is scheduled changes it too, and when is no matter of these tests. */
async function take(events: AsyncGenerator<WatchEvent>, count: number): Promise<readonly string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { value, done } = await events.next();
    if (done === true) break;
    if (value.type !== "MODIFIED") taken.push(`${value.type} ${value.object.metadata.name ?? value.object.code}`);
  }
  return taken;
}

describe("a watch", () => {
  test("goes on from a list's version, and misses nothing between them", async () => {
    await using api = await started();
    await create(api, "one");
    const { body } = await ask(api, "GET", PODS);
    await create(api, "two");
    await ask(api, "DELETE", `${PODS}/one`);

    expect(await take(watch(api, `resourceVersion=${body.metadata.resourceVersion}&timeoutSeconds=30`), 2)).toEqual([
      "ADDED two",
      "DELETED one",
    ]);
  });

  test("tells of a pod that comes to fit its selector, and of one that ceases to", async () => {
    await using api = await started();
    await create(api, "one", { color: "red" });
    const events = watch(api, "labelSelector=color%3Dblue&timeoutSeconds=30");
    const seen = take(events, 2);
    for (const color of ["blue", "green"]) await patch(api, "one", { metadata: { labels: { color } } });

    expect(await seen).toEqual(["ADDED one", "DELETED one"]);
  });

  test("from before a compaction is told 410 in the stream", async () => {
    await using api = await started();
    const { body } = await create(api, "one");
    api.compact();

    const [event] = await Readable.from(watch(api, `resourceVersion=${body.metadata.resourceVersion}`)).toArray();
    expect(event).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  test("ends by its time, with a bookmark for who asks for them", async () => {
    await using api = await started();
    const [event, ...more] = await Readable.from(watch(api, "timeoutSeconds=1&allowWatchBookmarks=true")).toArray();

    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: "BOOKMARK",
      object: { kind: "Pod", metadata: { resourceVersion: expect.stringMatching(/^\d+$/) } },
    });
  });

  test("is closed, cut in the middle of a line, or told 410, as the test wishes", async () => {
    await using api = await started();
    await create(api, "one");
    await create(api, "two");
    api.faults.push(
      { kind: "closed", verb: "watch", afterEvents: 1 },
      { kind: "halfLine", verb: "watch", afterEvents: 1 },
      { kind: "expired", verb: "watch", afterEvents: 1 },
    );

    expect(await take(watch(api, ""), 3)).toEqual(["ADDED one"]);
    await expect(take(watch(api, ""), 3)).rejects.toThrow(SyntaxError);
    expect(await take(watch(api, ""), 3)).toEqual(["ADDED one", "ERROR 410"]);
  });

  test("falls silent as the test wishes, and stays open", async () => {
    await using api = await started();
    const silenced = await open(api, "GET", `${PODS}?watch=1&timeoutSeconds=60`);
    let bytes = 0;
    silenced.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    api.silenceWatches();
    await create(api, "one");
    expect(await take(watch(api, ""), 1)).toEqual(["ADDED one"]); // the event has been sent to others

    expect(bytes).toBe(0);
    expect(silenced.readableEnded).toBe(false);
    const ended = once(silenced, "end");
    silenced.resume();
    api.closeWatches();
    await ended;
  });
});

const patch = (
  api: KubernetesApi,
  name: string,
  body: unknown,
  mediaType = "application/merge-patch+json",
): Promise<Answer> => ask(api, "PATCH", `${PODS}/${name}`, { body, mediaType });

/** A pod that nothing changes any more. */
async function untilUnschedulable(api: KubernetesApi, name: string): Promise<KubeObject["metadata"]> {
  for (;;) {
    const { body } = await ask(api, "GET", `${PODS}/${name}`);
    if (JSON.stringify(body).includes("Unschedulable")) return body.metadata;
  }
}

describe("a patch", () => {
  test("under a version is refused when the pod has moved on", async () => {
    await using api = await started();
    await create(api, "one");
    const { resourceVersion } = await untilUnschedulable(api, "one");
    const claim = (job: string) => patch(api, "one", { metadata: { resourceVersion, labels: { job } } });
    const answers = await Promise.all([claim("first"), claim("second")]);

    expect(answers.map(({ code }) => code).sort()).toEqual([200, 409]);
    expect(answers.find(({ code }) => code === 409)?.body.reason).toBe("Conflict");
  });

  test("changes labels by each of its three kinds, and no field of a pod that is fixed", async () => {
    await using api = await started();
    await create(api, "one", { a: "1", b: "1" });
    await patch(api, "one", { metadata: { labels: { a: null, c: "1" } } });
    await patch(api, "one", { metadata: { labels: { d: "1" } } }, "application/strategic-merge-patch+json");
    const steps = [
      { op: "test", path: "/metadata/labels/b", value: "1" },
      { op: "add", path: "/metadata/labels/example.com~1e", value: "1" },
      { op: "remove", path: "/metadata/labels/b" },
    ];
    const { body } = await patch(api, "one", steps, "application/json-patch+json");

    expect(body.metadata.labels).toEqual({ c: "1", d: "1", "example.com/e": "1" });
    expect((await patch(api, "one", steps, "application/json-patch+json")).code).toBe(422);
    expect(await patch(api, "one", { spec: { restartPolicy: "Always" } })).toMatchObject({
      code: 422,
      body: { reason: "Invalid" },
    });
    expect(await patch(api, "one", {}, "application/yaml")).toMatchObject({ code: 415 });
  });
});

test("a pod whose name is taken is refused, and one deleted by another's uid stays", async () => {
  await using api = await started();
  const { body } = await create(api, "one");

  expect(await create(api, "one")).toMatchObject({ code: 409, body: { reason: "AlreadyExists" } });
  expect(await ask(api, "DELETE", `${PODS}/one`, { body: { preconditions: { uid: "another" } } })).toMatchObject({
    code: 409,
    body: { reason: "Conflict" },
  });
  expect(
    await ask(api, "DELETE", `${PODS}/one`, { body: { preconditions: { uid: body.metadata.uid } } }),
  ).toMatchObject({ code: 200 });
  expect(await ask(api, "DELETE", `${PODS}/one`)).toMatchObject({ code: 404 });
});

test("a list is read page by page, until what it goes on from is forgotten", async () => {
  await using api = await started();
  for (const name of ["a", "b", "c"]) await create(api, name, { kind: name === "b" ? "other" : "mine" });
  const first = await ask(api, "GET", `${PODS}?limit=2`);
  const next = `${PODS}?limit=2&continue=${first.body.metadata.continue}`;

  const names = ({ body }: Answer): readonly string[] => (body.items ?? []).map(({ metadata }) => metadata.name);
  expect(names(first)).toEqual(["a", "b"]);
  expect(names(await ask(api, "GET", next))).toEqual(["c"]);
  expect(names(await ask(api, "GET", `${PODS}?labelSelector=kind+in+(mine)`))).toEqual(["a", "c"]);
  expect(names(await ask(api, "GET", `${PODS}?fieldSelector=metadata.name!%3Da`))).toEqual(["b", "c"]);
  api.compact();
  expect(await ask(api, "GET", next)).toMatchObject({ code: 410, body: { reason: "Expired" } });
});

describe("a fault", () => {
  test("of a status befalls so many requests, with its time to come back", async () => {
    await using api = await started();
    api.faults.push({ kind: "status", code: 429, retryAfterSeconds: 3, verb: "create", resource: "pods", times: 2 });
    const answers = [await create(api, "one"), await create(api, "one"), await create(api, "one")];

    expect(answers.map(({ code }) => code)).toEqual([429, 429, 201]);
    expect(answers[0]).toMatchObject({ headers: { "retry-after": "3" }, body: { details: { retryAfterSeconds: 3 } } });
  });

  test("may leave a thing done whose answer is lost, or lose it undone", async () => {
    await using api = await started();
    api.faults.push({ kind: "commitThenDrop", verb: "create" }, { kind: "drop", verb: "create" });

    await expect(create(api, "done")).rejects.toThrow("socket hang up");
    await expect(create(api, "undone")).rejects.toThrow("socket hang up");
    expect(api.list("pods").map(({ metadata }) => metadata.name)).toEqual(["done"]);
    expect(await create(api, "done")).toMatchObject({ code: 409 });
    expect(api.requests.map(({ status }) => status)).toEqual([undefined, undefined, 409]);
  });
});
