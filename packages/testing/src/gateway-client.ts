/** Calls tools by the HTTP of a gateway. */
export interface GatewayClient {
  /**
   * Posts where there is a body, and else gets.
   * @returns the JSON of the answer, whatever its status; rejects if it takes five minutes
   */
  request(
    path: string,
    options?: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<GatewayAnswer>;
  call(tool: string, args: object, headers?: Readonly<Record<string, string>>): Promise<GatewayAnswer>;
}

export interface GatewayAnswer {
  readonly status: number;
  /** A call's result, or the code and the words of its error. */
  readonly body: unknown;
}

const ANSWER_MS = 300_000;

/** @param url the gateway's, without a path @param token of a caller, where the gateway asks for one */
export function gatewayClient(url: string, token?: string): GatewayClient {
  const authorization: Readonly<Record<string, string>> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const client: GatewayClient = {
    async request(path, { body, headers = {} } = {}) {
      const posted = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const all = { "content-type": "application/json", ...authorization, ...headers };
      const answer = await fetch(`${url}${path}`, { ...posted, headers: all, signal: AbortSignal.timeout(ANSWER_MS) });
      return { status: answer.status, body: await answer.json() };
    },
    call: (tool, body, headers) =>
      client.request(`/v1/tools/${tool}/invoke`, { body, ...(headers === undefined ? {} : { headers }) }),
  };
  return client;
}
