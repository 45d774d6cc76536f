import { version } from "@rockbot/base/version";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { bearerOf, createFrontDoor, type FrontDoorOptions, letIn } from "@rockbot/edge/inbound";
import { type Context, Hono } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import { passFrontDoor } from "../door/guard.ts";
import type { RefusalLog } from "../door/refusal-log.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import { readLogin } from "../http/read-body.ts";
import type { AuthenticateOperator } from "../operators/authenticate-operator.ts";
import type { LocalOperator } from "../operators/local-operator.ts";
import { shownOperator } from "../operators/operator.ts";
import { clearConsoleCookie, setConsoleCookie } from "./console-cookie.ts";
import { consoleFiles } from "./console-files.ts";
import { consoleHeaders } from "./console-headers.ts";
import { checkConsoleOrigin } from "./console-origin.ts";
import { CONSOLE_PATH } from "./console-path.ts";
import { type ConsoleSessions, MAX_TOKEN_CHARACTERS } from "./console-sessions.ts";
import { openSession } from "./identify-operator.ts";

export interface ConsoleAppOptions extends FrontDoorOptions {
  /** The folder of the built page; undefined if there is none. */
  readonly files: string | undefined;
  readonly sessions: ConsoleSessions;
  readonly authenticate: AuthenticateOperator;
  /** Whose codes open the console. @default nobody's: operators log in by their tokens */
  readonly local: LocalOperator | undefined;
  /** Gets logins that fail. */
  readonly refusals: RefusalLog | undefined;
}

/** The console's page, to everybody who may address the gateway, and the way in and out of it. */
export function consoleApp({ files, sessions, refusals, ...options }: ConsoleAppOptions): Hono<GatewayEnv> {
  const app = new Hono<GatewayEnv>();
  const faultOf = createFrontDoor(options);
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(consoleHeaders)) c.header(name, value);
    c.header("cache-control", "no-store");
    passFrontDoor(faultOf, c.env.incoming);
    await next();
  });
  app.post(`${CONSOLE_PATH}login`, async (c) => {
    try {
      return await login(c, { ...options, sessions });
    } catch (error) {
      if (error instanceof ToolError) refusals?.request(c.env.incoming.socket.remoteAddress, error);
      throw error;
    }
  });
  app.post(`${CONSOLE_PATH}logout`, (c) => {
    sessions.end(openSession(c, sessions));
    clearConsoleCookie(c);
    return c.body(null, 204);
  });
  app.get(`${CONSOLE_PATH}*`, consoleFiles(files));
  app.get("*", (c) => c.redirect(CONSOLE_PATH, 302));
  app.all("*", (c) => {
    c.header("allow", "GET, POST");
    throw new ToolError(
      HttpErrorCode.MethodNotAllowed,
      `Cannot answer the request: under ${CONSOLE_PATH} there are GET, POST ${CONSOLE_PATH}login and POST ${CONSOLE_PATH}logout only`,
    );
  });
  return app;
}

/** Logs in by a code, or by an operator's token. A page of another origin must not log in the user that looks at it. */
async function login(
  c: Context<GatewayEnv>,
  { sessions, authenticate, local }: Pick<ConsoleAppOptions, "sessions" | "authenticate" | "local">,
): Promise<Response> {
  const { incoming } = c.env;
  checkConsoleOrigin(incoming.headers);
  const token =
    incoming.headers.authorization === undefined
      ? tokenByCode(await readLogin(incoming), local)
      : bearerOf(incoming.headers.authorization);
  const operator = authenticate(token);
  if (token === undefined || token.length > MAX_TOKEN_CHARACTERS)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot log in: a token for the console has at most ${MAX_TOKEN_CHARACTERS} characters`,
    );
  letIn(incoming);
  const { cookie, value, endsAt } = sessions.begin(token);
  setConsoleCookie(c, cookie);
  return c.json({ operator: shownOperator(operator), value, endsAt, version });
}

function tokenByCode(code: string, local: LocalOperator | undefined): string {
  if (local?.codes.take(code) === true) return local.token;
  throw new ToolError(
    HttpErrorCode.Unauthorized,
    'Cannot log in: the code does not hold. Each holds once, for 5 minutes: "rockbot open" gives another, or log in by an operator\'s token',
  );
}
