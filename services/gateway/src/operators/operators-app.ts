import { version } from "@rockbot/base/version";
import type { Logger } from "@rockbot/bus";
import type { Operator, OperatorRight as Right } from "@rockbot/console/api";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { type GatewayEnv, type GuardOptions, guard } from "../door/guard.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import type { HttpApp } from "../http/http-server.ts";
import type { ReceivedBody } from "../http/read-body.ts";
import { OperatorRight } from "./operator.ts";
import { operatorApiDocument } from "./operator-api.ts";
import { STREAM_PATH } from "./operator-stream.ts";

export interface OperatorsAppOptions extends Omit<GuardOptions, "identify"> {
  /** Tells which operator sends a request, or throws. */
  readonly identify: (c: Context<GatewayEnv>) => Operator;
  /** Bounds what runs at once. */
  readonly admit: MiddlewareHandler<GatewayEnv>;
  /** Answers a call of a tool for the caller that the context names: the gateway's own agent. */
  readonly invoke: (c: Context<GatewayEnv>) => Promise<Response>;
  readonly caller: Pick<ToolCaller, "cancel">;
  /** Answers a client that follows the overview. */
  readonly stream: (c: Context<GatewayEnv>) => Promise<Response>;
  /** The headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly log: Logger;
}

/** All paths for operators begin so. */
export const OPERATOR_PATH = "/operator/";
/** Where an operator reads who it is. */
const ME_PATH = "/operator/me";

/**
 * The endpoints for operators, behind a door that opens to an operator, and to nothing else. It opens neither to a
 * caller's token or the gateway's, nor to clients of this machine, where tools run, too.
 */
export function operatorsApp(
  operator: HttpApp,
  { identify, admit, invoke, caller, stream, headers, log, ...names }: OperatorsAppOptions,
): Hono<GatewayEnv> {
  const app = new Hono<GatewayEnv>();
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    await next();
  });
  const identified = (c: Context<GatewayEnv>): string => {
    c.set("operator", identify(c));
    return c.get("operator").name;
  };
  app.use(guard({ ...names, identify: identified }));
  app.use(async (c, next) => {
    log.info({ operator: c.get("caller"), method: c.req.method, path: c.req.path }, "an operator sent a request");
    await next();
  });
  app.use(admit);
  app.get(ME_PATH, (c) => {
    const session = c.get("session");
    return c.json({
      operator: c.get("operator"),
      version,
      ...(session === undefined ? {} : { endsAt: session.endsAt }),
    });
  });
  app.get(STREAM_PATH, stream);
  app.get(`${OPERATOR_PATH}openapi.json`, (c) => c.json(operatorApiDocument(version)));
  app.post(`${OPERATOR_PATH}tools/:name/invoke`, needs(OperatorRight.Call), (c) => {
    c.set("caller", undefined);
    return invoke(c);
  });
  app.post(`${OPERATOR_PATH}calls/:toolCallId/cancel`, needs(OperatorRight.Cancel), (c) => {
    if (caller.cancel(c.req.param("toolCallId"), `the operator "${c.get("operator").name}"`)) return c.body(null, 204);
    throw new ToolError(
      HttpErrorCode.NotFound,
      "Cannot cancel the call: it has ended, or another process made it. Cancel it where it was made",
    );
  });
  app.all("*", async (c) => {
    const answer = await operator.fetch(withBody(c.req.raw, c.get("body")), c.env);
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    return answer;
  });
  return app;
}

/** Lets only operators go on who have the right. */
const needs =
  (right: Right): MiddlewareHandler<GatewayEnv> =>
  async (c, next) => {
    const { name, may } = c.get("operator");
    if (may.includes(right)) return next();
    throw new ToolError(
      ToolErrorCode.Denied,
      `Cannot answer the request: it needs the right "${right}", and the operator "${name}" has ${may.join(", ")}. The operator of "rockbot up" has all`,
    );
  };

/** The body has been read from the connection. @throws {ToolError} if it could not be */
function withBody({ url, method, headers }: Request, body: ReceivedBody): Request {
  if (body instanceof ToolError) throw body;
  return new Request(url, {
    method,
    headers,
    ...(body === undefined || method === "GET" || method === "HEAD" ? {} : { body: new Uint8Array(body) }),
  });
}
