import type { IncomingMessage, ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { makeCertificate } from "../make-certificate.ts";
import type { ClusterConnection } from "./cluster-connection.ts";
import type { ApiFault } from "./faults.ts";
import { TestNode } from "./kubelet/test-node.ts";
import { isIsolated } from "./network-policies.ts";
import { RequestHandler } from "./requests/request-handler.ts";
import type { LoggedRequest } from "./requests/request-log.ts";
import { rightsOf, serviceAccountUser, type User } from "./rights.ts";
import { Scheduler } from "./scheduler.ts";
import { loadManifests } from "./store/load-manifests.ts";
import { ObjectStore } from "./store/object-store.ts";
import type { KubeObject, Pod } from "./store/objects.ts";
import { Users } from "./users.ts";

export interface StartKubernetesApiOptions {
  /**
   * Objects that are there from the start, such as the chart's; a namespace without a `default` service account gets
   * one.
   */
  readonly manifests?: readonly KubeObject[] | undefined;
  /** Images that nodes have, by name without digest. @default ["python:3.12-slim"] */
  readonly images?: readonly string[] | undefined;
  /** @default one, with 8 processors and 16 GiB */
  readonly nodes?:
    | readonly { readonly name: string; readonly cpus?: number; readonly memoryBytes?: number }[]
    | undefined;
  /** Whether a NetworkPolicy is more than a text, as it depends on a cluster's network. @default true */
  readonly enforcesNetworkPolicies?: boolean | undefined;
  /** Folders of this machine that stand for claimed volumes, by the claim's name. */
  readonly claims?: Readonly<Record<string, string>> | undefined;
  /** Put on each new pod: it is not gone until somebody takes them away. @default none */
  readonly podFinalizers?: readonly string[] | undefined;
}

/** A Kubernetes API server for tests, and the nodes that run its pods. Disposal ends all pods. */
export interface KubernetesApi extends AsyncDisposable {
  readonly url: string;
  /** Who may do everything. */
  readonly admin: ClusterConnection;
  /** Somebody who may do what the Roles in the manifests say. */
  connectionFor(serviceAccount: { readonly namespace: string; readonly name: string }): ClusterConnection;
  /** Of resources, in the order they came. */
  readonly requests: readonly LoggedRequest[];
  /** Rights that somebody has used with success, such as `get pods/log`, sorted. */
  usedRights(user: string): readonly string[];
  /** Rights that the Roles give, in the same form. */
  grantedRights(user: string, namespace: string): readonly string[];
  /** For the next requests that they befall. */
  readonly faults: ApiFault[];
  readonly nodes: readonly TestNode[];
  /** As it is stored. */
  list(resource: string, namespace?: string): readonly KubeObject[];
  /** Closes all watches, as a server that restarts. */
  closeWatches(): void;
  /** Sends nothing to the watches that are open, which stay open. */
  silenceWatches(): void;
  /** The same to the logs that are followed. */
  silenceLogs(): void;
  bookmarkWatches(): void;
  /** Forgets past changes: a watch or a list that goes on from before gets 410. */
  compact(): void;
}

/**
 * Speaks as much of the Kubernetes API as clients of pods ask for, over TLS and to users with tokens, with the promises
 * of a real server: versions, conflicts, admission, rights. Pods run as real processes (see `startContainerProcess`),
 * which are gone after disposal, and when this process ends in whatever way.
 *
 * What it has not: controllers, other workloads than pods, init containers, restarts of containers, `exec` and
 * `portforward`, which are refused to all.
 */
// Long because: a server is set up from top to bottom, then come the short operations on it
export async function startKubernetesApi({
  manifests = [],
  images = ["python:3.12-slim"],
  nodes: nodeOptions = [{ name: "node-1" }],
  enforcesNetworkPolicies = true,
  claims = {},
  podFinalizers = [],
}: StartKubernetesApiOptions = {}): Promise<KubernetesApi> {
  const store = new ObjectStore();
  const users = new Users(store);
  const nodes: TestNode[] = [];
  const handler = new RequestHandler({ store, users, nodes, podFinalizers });
  const { key, certificate } = makeCertificate();
  // Speaks HTTP/2 with clients that offer it, as a real server does; what the handler uses of requests and answers is
  // the same in both.
  const server = createSecureServer({ key, cert: certificate, allowHTTP1: true });
  server.on(
    "request",
    (request: unknown, response: unknown) =>
      void handler.handle(request as IncomingMessage, response as ServerResponse),
  );
  const sockets = new Set<TLSSocket>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on(
    "upgrade",
    (request: IncomingMessage, socket: Duplex, head: Buffer) => void handler.upgrade(request, socket, head),
  );
  server.on("tlsClientError", () => {}); // clients that do not trust us
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}`;

  for (const { name, cpus = 8, memoryBytes = 16 * 2 ** 30 } of nodeOptions) {
    const environment = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(port) };
    const hasNetwork = (pod: Pod): boolean =>
      pod.spec.hostNetwork === true || !(enforcesNetworkPolicies && isIsolated(store, pod));
    nodes.push(new TestNode(store, { name, cpus, memoryBytes, images, claims, environment, hasNetwork }));
    store.create("nodes", { metadata: { name } });
  }
  const scheduler = new Scheduler(store, nodes);
  loadManifests(store, manifests);

  const admin: User = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
  return {
    url,
    admin: { server: url, certificate, token: users.add(admin), user: admin.name },
    connectionFor: ({ namespace, name }) => ({
      server: url,
      certificate,
      token: users.addServiceAccount(namespace, name),
      user: serviceAccountUser(namespace, name),
    }),
    requests: handler.log,
    usedRights: (user) => users.usedBy(user),
    grantedRights: (user, namespace) => rightsOf(store, { name: user, groups: [] }, namespace),
    faults: handler.faults,
    nodes,
    list: (resource, namespace) => store.list(resource, namespace),
    closeWatches() {
      for (const watch of handler.watches) watch.close();
    },
    silenceWatches() {
      for (const watch of handler.watches) watch.silence();
    },
    silenceLogs() {
      for (const log of handler.logs) log.silence();
    },
    bookmarkWatches() {
      for (const watch of handler.watches) watch.bookmark();
    },
    compact: () => store.compact(),
    async [Symbol.asyncDispose]() {
      scheduler[Symbol.dispose]();
      const closed = new Promise((resolve) => server.close(resolve));
      handler[Symbol.dispose]();
      for (const socket of sockets) socket.destroy();
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      await closed;
    },
  };
}
