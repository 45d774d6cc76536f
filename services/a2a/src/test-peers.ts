import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard, type Message, Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";

/** A request as it came. */
export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A server on this machine that speaks, or does not speak, A2A. */
export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly PeerRequest[];
}

export interface PeerCard {
  readonly name?: string;
  readonly description?: string;
  readonly bindings?: readonly ("JSONRPC" | "HTTP+JSON")[];
  readonly streaming?: boolean;
  readonly version?: string;
  readonly skills?: readonly {
    readonly id: string;
    readonly name?: string;
    readonly description?: string;
    readonly tags?: readonly string[];
  }[];
  /** Where the agent says that it is. */
  readonly at?: string;
}

/** The JSON of a card of A2A 1.0. */
export function cardOf(
  url: string,
  {
    name = "Echo",
    description = "Says it again.",
    bindings = ["JSONRPC"],
    streaming = true,
    version = "1.0",
    skills = [{ id: "echo" }],
    at = url,
  }: PeerCard = {},
) {
  return {
    name,
    description,
    version: "1",
    supportedInterfaces: bindings.map((protocolBinding) => ({
      url: protocolBinding === "JSONRPC" ? `${at}/rpc` : `${at}/rest`,
      protocolBinding,
      protocolVersion: version,
      tenant: "",
    })),
    capabilities: { streaming, pushNotifications: false, extensions: [] },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: skills.map(({ id, name: title = id, description: about = `Does ${id}.`, tags = [] }) => ({
      id,
      name: title,
      description: about,
      tags,
      examples: [],
    })),
  };
}

/** Starts a server with this handler, which gets the body that came. */
export async function startPeer(
  handle: (request: IncomingMessage & { readonly text: string }, response: ServerResponse, url: string) => void,
): Promise<Peer> {
  const requests: PeerRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    requests.push({
      method: request.method ?? "",
      path: request.url ?? "",
      authorization: request.headers.authorization,
      body: text,
    });
    handle(Object.assign(request, { text }), response, url);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The text of a message. */
const textIn = (message: Message | undefined): string =>
  (message?.parts ?? []).map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");

const messageOf = (text: string, taskId: string, contextId: string): Message => ({
  messageId: crypto.randomUUID(),
  taskId,
  contextId,
  role: Role.ROLE_AGENT,
  parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "text/plain" }],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

/**
 * An agent that does what its message says: `ask`, `fail`, `wait`; else it says the message again, in two pieces of an
 * artifact.
 */
class EchoAgent implements AgentExecutor {
  readonly #stopped = new Map<string, () => void>();

  async execute(
    ...[{ userMessage, task, taskId, contextId }, events]: Parameters<AgentExecutor["execute"]>
  ): Promise<void> {
    const text = textIn(userMessage);
    const status = (state: TaskState, said?: string) =>
      events.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: {
            state,
            message: said === undefined ? undefined : messageOf(said, taskId, contextId),
            timestamp: new Date().toISOString(),
          },
          metadata: undefined,
        }),
      );
    if (text === "direct") {
      events.publish(AgentEvent.message(messageOf("a direct answer", "", contextId)));
      events.finished();
      return;
    }
    events.publish(
      AgentEvent.task(
        task ?? {
          id: taskId,
          contextId,
          status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined },
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        },
      ),
    );
    status(TaskState.TASK_STATE_WORKING, "I am at it");
    if (text === "ask") status(TaskState.TASK_STATE_INPUT_REQUIRED, "Which colour?");
    else if (text === "fail") status(TaskState.TASK_STATE_FAILED, "The mill is broken.");
    else if (text === "wait") {
      await new Promise<void>((resolve) => this.#stopped.set(taskId, resolve));
      status(TaskState.TASK_STATE_CANCELED);
    } else {
      const piece = (value: string, append: boolean) =>
        events.publish(
          AgentEvent.artifactUpdate({
            taskId,
            contextId,
            artifact: {
              artifactId: "a",
              name: "answer",
              description: "",
              parts: [
                { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" },
              ],
              metadata: undefined,
              extensions: [],
            },
            append,
            lastChunk: append,
            metadata: undefined,
          }),
        );
      piece("You said: ", false);
      piece(text, true);
      status(TaskState.TASK_STATE_COMPLETED);
    }
    events.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#stopped.get(taskId)?.();
  }
}

/** An agent as the SDK's samples make them: with both bindings, which speak 0.3, too. */
export async function startEchoPeer(card: PeerCard = {}): Promise<Peer> {
  let app: ReturnType<typeof express> | undefined;
  return await startPeer((request, response, url) => {
    app ??= echoApp(cardOf(url, card));
    // Express reads the body from what the request still has: it was read before.
    Object.assign(request, { body: request.text === "" ? {} : JSON.parse(request.text), _body: true });
    app(request, response);
  });
}

function echoApp(card: ReturnType<typeof cardOf>) {
  const requestHandler = new DefaultRequestHandler(AgentCard.fromJSON(card), new InMemoryTaskStore(), new EchoAgent());
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } };
  const app = express();
  app.use(
    "/.well-known/agent-card.json",
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }),
  );
  app.use("/rpc", jsonRpcHandler(options));
  app.use("/rest", restHandler(options));
  return app;
}
