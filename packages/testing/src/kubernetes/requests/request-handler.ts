import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketServer } from "ws";
import { type ApiFault, failureOf, takeFault } from "../faults.ts";
import type { TestNode } from "../kubelet/test-node.ts";
import type { Act, User } from "../rights.ts";
import { ApiFailure, badRequest, noSuchResource } from "../store/api-failure.ts";
import type { ObjectStore } from "../store/object-store.ts";
import type { Pod } from "../store/objects.ts";
import type { Users } from "../users.ts";
import { ATTACH_PROTOCOLS, answerAttach } from "./answer-attach.ts";
import { discoveryAt } from "./answer-discovery.ts";
import { answerLog, containerNamed, type OpenLog } from "./answer-log.ts";
import { answerObject } from "./answer-object.ts";
import { answerWatch, type OpenWatch } from "./answer-watch.ts";
import { asFailure, MAX_BODY_BYTES, readBody, sendFailure, sendJson } from "./http-body.ts";
import { type LoggedRequest, loggedRequest } from "./request-log.ts";
import { type ApiRequest, requestOf } from "./request-of.ts";

export interface RequestHandlerOptions {
  readonly store: ObjectStore;
  readonly users: Users;
  readonly nodes: readonly TestNode[];
  /** Put on each new pod. */
  readonly podFinalizers: readonly string[];
}

/** Answers HTTP requests: who asks, what they may, what is to go wrong, and then what they ask for. */
export class RequestHandler implements Disposable {
  readonly log: LoggedRequest[] = [];
  readonly faults: ApiFault[] = [];
  readonly watches = new Set<OpenWatch>();
  readonly logs = new Set<OpenLog>();
  readonly #options: RequestHandlerOptions;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_BODY_BYTES,
    handleProtocols: (offered) => ATTACH_PROTOCOLS.find((protocol) => offered.has(protocol)) ?? false,
  });

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await readBody(message);
      const user = this.#options.users.of(message);
      const url = new URL(message.url ?? "/", "https://localhost");
      const request = requestOf(message.method ?? "GET", url);
      if (request === undefined) {
        sendJson(response, 200, discoveryAt(url.pathname));
        return;
      }
      const entry = this.#note(user, request.act, message);
      response.once("close", () => {
        if (response.headersSent) entry.status = response.statusCode;
      });
      this.#options.users.authorize(user, request.act);
      const fault = takeFault(this.faults, request.act);
      if (fault === undefined || (await letThrough(fault, response)))
        this.#answer(request, message, body, response, fault);
    } catch (error) {
      sendFailure(response, error);
    }
  }

  #answer(
    request: ApiRequest,
    { headers }: IncomingMessage,
    body: unknown,
    response: ServerResponse,
    fault: ApiFault | undefined,
  ): void {
    const { store, nodes, podFinalizers } = this.#options;
    const { act, query } = request;
    if (act.verb === "watch") {
      keepWhileOpen(this.watches, answerWatch(store, request, response, fault), response);
      return;
    }
    if (act.subresource === "log" && act.verb === "get") {
      const log = answerLog(nodes, this.#podOf(act), query, response);
      if (log !== undefined) keepWhileOpen(this.logs, log, response);
      return;
    }
    if (act.subresource === "token" && act.verb === "create") {
      const { namespace = "", name = "" } = store.get(act.resource, act.namespace, act.name ?? "").metadata;
      const token = this.#options.users.addServiceAccount(namespace, name);
      sendJson(response, 201, {
        kind: "TokenRequest",
        apiVersion: "authentication.k8s.io/v1",
        metadata: { name, namespace },
        status: { token },
      });
      return;
    }
    if (act.subresource === "attach") throw badRequest("Upgrade request required");
    if (act.subresource !== "") throw noSuchResource();
    const answer = answerObject(store, request, { headers, body, podFinalizers });
    if (fault?.kind === "commitThenDrop") response.destroy();
    else if (fault?.kind !== "commitThenHang") sendJson(response, answer.code, answer.body);
  }

  async upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => {}); // the client may leave
    let entry: LoggedRequest | undefined;
    try {
      const { users, nodes } = this.#options;
      const user = users.of(message);
      const request = requestOf("GET", new URL(message.url ?? "/", "https://localhost"));
      if (request === undefined || request.act.subresource === "")
        throw badRequest("only streams of pods are upgraded");
      const { act, query } = request;
      entry = this.#note(user, act, message);
      users.authorize(user, act);
      users.authorize(user, { ...act, verb: "create" }); // a stream is opened by a GET, and does more than one: the server asks for both
      const fault = takeFault(this.faults, act);
      if (fault !== undefined && !(await letThrough(fault, socket))) return;
      const pod = this.#podOf(act);
      const name = containerNamed(pod, query.get("container"));
      if (pod.spec.nodeName === undefined) throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
      const node = nodes.find((one) => one.name === pod.spec.nodeName);
      if (node === undefined || node.isLost)
        throw new ApiFailure(500, "InternalError", "error dialing backend: dial tcp: i/o timeout");
      entry.status = 101;
      this.#webSockets.handleUpgrade(message, socket, head, (webSocket) =>
        answerAttach(webSocket, node.container(pod, name), query),
      );
    } catch (error) {
      const { code, reason, status } = asFailure(error);
      if (entry !== undefined) entry.status = code;
      const text = JSON.stringify(status);
      const headers = [
        "Content-Type: application/json",
        `Content-Length: ${Buffer.byteLength(text)}`,
        "Connection: close",
      ];
      socket.end(`HTTP/1.1 ${code} ${reason}\r\n${headers.join("\r\n")}\r\n\r\n${text}`);
    }
  }

  #podOf({ namespace, name = "" }: Act): Pod {
    return this.#options.store.get("pods", namespace, name) as Pod;
  }

  #note(user: User, act: Act, { httpVersion }: IncomingMessage): LoggedRequest {
    const entry = loggedRequest(user, act, httpVersion);
    this.log.push(entry);
    return entry;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#webSockets.clients) socket.terminate();
  }
}

function keepWhileOpen<Stream>(open: Set<Stream>, stream: Stream, response: ServerResponse): void {
  open.add(stream);
  response.once("close", () => open.delete(stream));
}

/** @returns whether the request is answered all the same @throws {ApiFailure} that it is answered with */
async function letThrough(fault: ApiFault, connection: { destroy(): unknown }): Promise<boolean> {
  if (fault.kind === "status") throw failureOf(fault);
  if (fault.kind === "slow") await sleep(fault.ms, undefined, { ref: false });
  if (fault.kind === "drop") connection.destroy();
  return fault.kind !== "hang" && fault.kind !== "drop";
}
