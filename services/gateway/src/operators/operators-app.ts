import { version } from "@rockbot/base/version";
import type { Logger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { ToolCaller } from "@rockbot/tools";
import type { Commander } from "@rockbot/tools/commands";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { OperatorCall } from "../calls/invoke.ts";
import type { OperatorChat } from "../chat/chat-completions.ts";
import { noAgent } from "../chat/no-agent.ts";
import { type GatewayEnv, type GuardOptions, guard } from "../door/guard.ts";
import type { Operator } from "../door/operator.ts";
import type { ReceivedBody } from "../http/read-body.ts";
import { actAsAsked, callersOf } from "./act-as-caller.ts";
import { callAgain, type FindCall, readAgain } from "./call-again.ts";
import { type CancelCallParts, createCancelCall } from "./cancel-call.ts";
import { type OperatorHttpApp, shownOperator } from "./operator.ts";
import { operatorApiDocument } from "./operator-api.ts";
import { CHAT_PATH, checkSession } from "./operator-chat.ts";
import { operatorGate } from "./operator-gate.ts";
import { withKeptArguments } from "./operator-kept.ts";
import { STREAM_PATH } from "./operator-stream.ts";
import { createSee, type See } from "./see.ts";

export interface OperatorsAppOptions extends Omit<GuardOptions, "identify"> {
  /** Tells which operator sends a request, or throws. */
  readonly identify: (c: Context<GatewayEnv>) => Operator;
  /** Bounds what runs at once, and then verifies what can only be known of a whole request. */
  readonly admit: readonly MiddlewareHandler<GatewayEnv>[];
  /** Answers a call of a tool for the caller that the context names: undefined for the gateway's own agent. */
  readonly invoke: (c: Context<GatewayEnv>, call: OperatorCall) => Promise<Response>;
  /** Asks the agent, in the same way. @default there is no agent */
  readonly chat?: ((c: Context<GatewayEnv>, call: OperatorChat) => Promise<Response>) | undefined;
  readonly caller: CancelCallParts["caller"] & Pick<ToolCaller, "agent" | "journal">;
  /** Gives services commands. @default calls of this gateway alone can be cancelled */
  readonly commander?: Commander | undefined;
  /** Finds a call to make again, with its arguments. @default those of this gateway, without */
  readonly findCall?: FindCall | undefined;
  /** Gets a line for each reading of what belongs to others. @default nobody */
  readonly audit?: AuditLog | undefined;
  /** Names the callers that there are. */
  readonly policy: Pick<PolicyHolder, "current">;
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
  operator: OperatorHttpApp,
  {
    identify,
    admit,
    invoke,
    chat,
    caller,
    findCall = withKeptArguments(() => [caller.journal]),
    commander,
    audit,
    policy,
    stream,
    headers,
    log,
    ...names
  }: OperatorsAppOptions,
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
  const cancelCall = createCancelCall({ caller, findCall, commander });
  app.use(guard({ ...names, identify: identified }));
  app.use(async (c, next) => {
    log.info({ operator: c.get("caller"), method: c.req.method, path: c.req.path }, "an operator sent a request");
    await next();
  });
  app.use(operatorGate());
  app.use(...admit);
  app.get(ME_PATH, (c) => {
    const session = c.get("session");
    return c.json({
      operator: shownOperator(c.get("operator")),
      callers: callersOf(c.get("operator"), caller.agent, policy.current().document),
      version,
      ...(session === undefined ? {} : { endsAt: session.endsAt }),
    });
  });
  app.get(STREAM_PATH, stream);
  app.get(`${OPERATOR_PATH}openapi.json`, (c) => c.json(operatorApiDocument(version)));
  const seeFor = (c: Context<GatewayEnv>) => createSee(c.get("operator"), { audit, log });
  addCallsOfTools(app, { invoke, findCall, agent: caller.agent, seeFor });
  app.post(CHAT_PATH, async (c) => {
    const operator = actAsAsked(c, caller.agent);
    if (chat === undefined) throw noAgent();
    return await chat(c, { operator: operator.name, agent: c.req.query("agent") });
  });
  app.post(`${OPERATOR_PATH}calls/:toolCallId/cancel`, async (c) => {
    await cancelCall(c.req.param("toolCallId"), c.get("operator").name);
    return c.body(null, 204);
  });
  app.all("*", async (c) => {
    const answer = await operator.fetch(withBody(c.req.raw, c.get("body")), {
      ...c.env,
      operator: c.get("operator"),
      see: seeFor(c),
    });
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    return answer;
  });
  return app;
}

/** The routes by which operators call tools: each checks what the answer may tell. */
function addCallsOfTools(
  app: Hono<GatewayEnv>,
  {
    invoke,
    findCall,
    agent,
    seeFor,
  }: Pick<OperatorsAppOptions, "invoke"> & {
    readonly findCall: FindCall;
    /** The gateway's own agent. */
    readonly agent: string;
    readonly seeFor: (c: Context<GatewayEnv>) => See;
  },
): void {
  app.post(`${OPERATOR_PATH}tools/:name/invoke`, async (c) => {
    const operator = actAsAsked(c, agent);
    await checkSession(operator, c.req.header("rockbot-session"), seeFor(c));
    return invoke(c, { operator: operator.name });
  });
  app.post(`${OPERATOR_PATH}calls/:toolCallId/again`, async (c) => {
    const operator = c.get("operator");
    const toolCallId = c.req.param("toolCallId");
    const { as, again } = callAgain(operator, await findCall(toolCallId));
    await readAgain(seeFor(c), operator, toolCallId);
    await checkSession(operator, c.req.header("rockbot-session"), seeFor(c));
    c.set("caller", as === agent ? undefined : as);
    return invoke(c, { operator: operator.name, again });
  });
}

/** The body has been read from the connection. @throws {ToolError} if it could not be */
function withBody({ url, method, headers }: Request, body: ReceivedBody): Request {
  if (body instanceof ToolError) throw body;
  return new Request(url, {
    method,
    headers,
    ...(body === undefined || method === "GET" || method === "HEAD" ? {} : { body: new Uint8Array(body) }),
  });
}
