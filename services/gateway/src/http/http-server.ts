import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import {
  type ServerAddress,
  type StartedServer,
  type StartServerOptions,
  startServer,
  type UnreadableStatus,
} from "@rockbot/edge/inbound";
import { errorBody, HttpErrorCode, statusOf } from "./http-error.ts";

/** An app that answers requests, such as one of Hono. */
export interface HttpApp {
  fetch(request: Request, env: HttpBindings): Response | Promise<Response>;
}

/**
 * Serves the app; resolves once it listens. Disposal lets running requests finish.
 * @throws {Error} with Node's `code`, such as EADDRINUSE, if it cannot listen
 */
export function serveHttp(
  app: HttpApp,
  where: ServerAddress,
  options: Omit<StartServerOptions, "refusal"> = {},
): Promise<StartedServer> {
  const listener = getRequestListener(
    ((request: Request, env: HttpBindings) => app.fetch(request, env)) as Parameters<typeof getRequestListener>[0],
    {
      overrideGlobalObjects: false,
      errorHandler,
    },
  );
  return startServer(
    (incoming, outgoing) => {
      void listener(incoming, outgoing); // never rejects: errors become answers
    },
    where,
    { ...options, refusal: (status, message) => errorBody(new ToolError(unreadable[status], message)) },
  );
}

const unreadable: Readonly<Record<UnreadableStatus, string>> = {
  400: HttpErrorCode.BadRequest,
  408: HttpErrorCode.RequestTimeout,
  417: HttpErrorCode.ExpectationFailed,
  431: ToolErrorCode.TooLarge,
};

/** Answers a request that is not even one for the app: a line that is no URL, a Host header that is no host. */
function errorHandler(error: unknown): Response {
  const fault =
    error instanceof RequestError
      ? new ToolError(HttpErrorCode.BadRequest, "Cannot read the request: its path or its Host header is malformed")
      : new ToolError(ToolErrorCode.ExecutionFailed, "Cannot answer the request: the gateway failed");
  return Response.json(errorBody(fault), { status: statusOf(fault.code) });
}
