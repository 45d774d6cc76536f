import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { type ApiFault, failureOf, takeFault } from "../faults.ts";
import type { TestNode } from "../kubelet/test-node.ts";
import { ApiFailure, badRequest } from "../store/api-failure.ts";
import type { Pod } from "../store/objects.ts";
import type { PodStore } from "../store/pod-store.ts";
import { ATTACH_PROTOCOLS, answerAttach } from "./answer-attach.ts";
import { answerLog, type OpenLog } from "./answer-log.ts";
import { type AnswerPodsOptions, answerPods } from "./answer-pods.ts";
import { answerWatch, type OpenWatch } from "./answer-watch.ts";
import { asFailure, MAX_BODY_BYTES, readBody, sendFailure, sendJson } from "./http-body.ts";
import { type ApiRequest, requestOf } from "./request-of.ts";

export interface RequestHandlerOptions extends AnswerPodsOptions {
  readonly store: PodStore;
  readonly node: TestNode;
  /** The one that is known. */
  readonly token: string;
}

/** One request, with what was answered. */
export interface LoggedRequest extends Pick<ApiRequest, "verb" | "resource"> {
  /** Such as `2.0`. */
  readonly httpVersion: string;
  /** Undefined until it is answered, and if it never is. */
  status: number | undefined;
}

/** Answers HTTP requests: who asks, what is to go wrong, and then what they ask for. */
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
      const [request, entry] = this.#read(message);
      response.once("close", () => {
        if (response.headersSent) entry.status = response.statusCode;
      });
      const fault = takeFault(this.faults, request);
      if (fault === undefined || (await letThrough(fault, response))) this.#answer(request, body, response, fault);
    } catch (error) {
      sendFailure(response, error);
    }
  }

  #answer(request: ApiRequest, body: unknown, response: ServerResponse, fault: ApiFault | undefined): void {
    const { store, node } = this.#options;
    const { verb, resource, query } = request;
    if (verb === "watch") keepWhileOpen(this.watches, answerWatch(store, request, response, fault), response);
    else if (resource === "pods/log") {
      const log = answerLog(node, this.#podOf(request), query, response);
      if (log !== undefined) keepWhileOpen(this.logs, log, response);
    } else if (resource === "pods") {
      const answer = answerPods(store, request, body, this.#options);
      if (fault?.kind === "commitThenDrop") response.destroy();
      else sendJson(response, answer.code, answer.body);
    } else throw badRequest("only a pod, its log, and attach by an upgrade are answered");
  }

  async upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => {}); // the client may leave
    let entry: LoggedRequest | undefined;
    try {
      const [request, noted] = this.#read(message);
      entry = noted;
      if (request.resource !== "pods/attach") throw badRequest("only attach is upgraded");
      const fault = takeFault(this.faults, request);
      if (fault !== undefined && !(await letThrough(fault, socket))) return;
      const pod = this.#podOf(request);
      const { node } = this.#options;
      if (node.isLost) throw new ApiFailure(500, "InternalError", "error dialing backend: dial tcp: i/o timeout");
      entry.status = 101;
      this.#webSockets.handleUpgrade(message, socket, head, (webSocket) =>
        answerAttach(webSocket, node.container(pod), request.query),
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

  #podOf({ namespace, name = "" }: ApiRequest): Pod {
    return this.#options.store.get(namespace, name);
  }

  /** @throws {ApiFailure} 401 or 404 */
  #read({ method = "GET", url = "/", headers, httpVersion }: IncomingMessage): readonly [ApiRequest, LoggedRequest] {
    if (headers.authorization !== `Bearer ${this.#options.token}`)
      throw new ApiFailure(401, "Unauthorized", "Unauthorized");
    const request = requestOf(method, new URL(url, "https://localhost"));
    const { verb, resource } = request;
    const entry: LoggedRequest = { verb, resource, httpVersion, status: undefined };
    this.log.push(entry);
    return [request, entry];
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
  if (fault.kind === "drop") connection.destroy();
  return fault.kind !== "hang" && fault.kind !== "drop";
}
