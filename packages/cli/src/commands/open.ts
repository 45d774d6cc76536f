import { Agent, request } from "undici";
import { CommandError } from "../command-error.ts";
import { liveSocket, NOT_RUNNING } from "../runtime/own-socket.ts";
import { CODES_PATH } from "../runtime/serve-socket.ts";

export interface OpenOptions {
  readonly print?: boolean;
}

const ANSWER_MS = 10_000;

/** `rockbot open`: the console of the running `rockbot up`, in the browser, by a link that holds once. */
export async function open({ print = false }: OpenOptions): Promise<void> {
  const socketPath = await liveSocket(process.env);
  if (socketPath === undefined)
    throw new CommandError(
      `Cannot open the console: ${NOT_RUNNING}. Elsewhere an operator logs in at /console/ of the gateway, by a token of the policy`,
    );
  const link = await newLink(socketPath);
  if (print) {
    console.log(link);
    return;
  }
  const { default: openInBrowser } = await import("open");
  const browser = await openInBrowser(link);
  browser.on("error", () => {}); // the next line says what to do without one
  console.error(`The console opens in the browser: ${link.split("#", 1)[0]}. Without one: rockbot open --print`);
}

/** @throws {CommandError} if the process at the socket has no console, or does not answer */
async function newLink(socketPath: string): Promise<string> {
  const dispatcher = new Agent({ connect: { socketPath, timeout: 2_000 } });
  try {
    const { statusCode, body } = await request(`http://localhost${CODES_PATH}`, {
      method: "POST",
      dispatcher,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const { link } = (statusCode === 200 ? await body.json() : {}) as { readonly link?: string | null };
    if (typeof link === "string") return link;
    throw new CommandError(
      'Cannot open the console: the running "rockbot up" has none. It is part of its gateway, unless the setting console of the gateway is false',
    );
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `Cannot open the console: the running "rockbot up" does not answer (${error instanceof Error ? error.message : String(error)})`,
    );
  } finally {
    await dispatcher.destroy();
  }
}
