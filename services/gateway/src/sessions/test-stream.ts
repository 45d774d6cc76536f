import { request } from "node:http";

/** An event as it came over the wire; comments have no data. */
export interface WireEvent {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly data: string;
}

export interface OpenStreamOptions {
  readonly port: number;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: object;
}

/** An event stream whose connection can be cut at any time. Resolves once its head is there. */
export async function openStream({ port, path, headers = {}, body }: OpenStreamOptions) {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let text = "";
  let isEnded = false;
  let isCut = false;
  const sent = request({
    host: "127.0.0.1",
    port,
    agent: false,
    path,
    method: body === undefined ? "GET" : "POST",
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
  });
  sent.on("error", reject);
  sent.on("response", (response) => {
    resolve(response.statusCode ?? 0);
    response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    response.on("end", () => (isEnded = true)).on("error", () => (isCut = true));
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const status = await promise;
  return {
    status,
    text: () => text,
    isEnded: () => isEnded,
    /** Tells whether the other side broke the connection. */
    isCut: () => isCut,
    events: () => eventsIn(text),
    [Symbol.dispose]: () => void sent.destroy(),
  };
}

function eventsIn(text: string): WireEvent[] {
  return text
    .split("\n\n")
    .map(
      (block) =>
        Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2))) as Record<
          string,
          string
        >,
    )
    .filter(({ data }) => data !== undefined)
    .map(({ id, event, data = "" }) => ({ id, event, data }));
}
