import type { IncomingMessage, ServerResponse } from "node:http";
import type { AgentCard } from "@a2a-js/sdk";
import { agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import type { A2aPaths } from "./a2a-card.ts";
import type { A2aClient } from "./a2a-client.ts";
import type { TaskDesk } from "./task-desk.ts";

/** An agent with a card of its own. */
export interface A2aAgent {
  /** As it is now: tokens may come and go with the policy. */
  readonly card: () => AgentCard;
  readonly desk: TaskDesk;
  readonly paths: A2aPaths;
}

/** An answer in the server's own form. */
export interface PlainAnswer {
  readonly status: number;
  readonly body: object;
}

export interface A2aAppOptions {
  /** Where nothing is. */
  readonly onNoPath: () => PlainAnswer;
  /** @param error with a status where the request is at fault */
  readonly onFailure: (error: { readonly status?: number }) => PlainAnswer;
}

/** Answers a request whose body has been read, and whose client is known. */
export type A2aApp = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  request: { readonly body: unknown; readonly client: A2aClient },
) => void;

/** A request with what the SDK's handlers look for. */
interface A2aRequest extends IncomingMessage {
  a2aClient: A2aClient;
  body: unknown;
  /** Has express take the body as it is. */
  _body: boolean;
}

/** A2A in both bindings and versions. The SDK has HTTP+JSON, and 0.3, for express alone. */
export function a2aApp(agents: readonly A2aAgent[], { onNoPath, onFailure }: A2aAppOptions): A2aApp {
  const app = express();
  app.disable("x-powered-by");
  const userBuilder = async (request: unknown) => (request as A2aRequest).a2aClient;
  const legacyCompat = { enabled: true };
  for (const { card, desk, paths } of agents) {
    for (const path of paths.cards)
      app.use(path, agentCardHandler({ agentCardProvider: async () => card(), legacyCompat, cache: { maxAge: 0 } }));
    app.use(paths.rpc, jsonRpcHandler({ requestHandler: desk, userBuilder, legacyCompat }));
    app.use(paths.http, restHandler({ requestHandler: desk, userBuilder, legacyCompat }));
  }
  // In the place of express's own pages, which show its files.
  const noPath: RequestHandler = (_, response) => {
    const { status, body } = onNoPath();
    response.status(status).json(body);
  };
  const failed: ErrorRequestHandler = (error: { readonly status?: number }, _, response, __) => {
    const { status, body } = onFailure(error);
    if (response.headersSent) response.destroy();
    else response.status(status).json(body);
  };
  app.use(noPath, failed);
  return (incoming, outgoing, { body, client }) => {
    const request: Omit<A2aRequest, keyof IncomingMessage> = { body, a2aClient: client, _body: true };
    app(Object.assign(incoming, request), outgoing);
  };
}
