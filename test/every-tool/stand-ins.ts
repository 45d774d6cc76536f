import {
  type GmailMessage,
  startAnthropicAdminServer,
  startGoogleServer,
  startLinkedinJobsSite,
  startRecordingServer,
} from "@rockbot/testing";

/** The account that the Google of the tests has. */
export const ACCOUNT = "alice@example.com";
/** The numbers of the postings that there are. */
export const JOBS = ["4012345670", "4012345671", "4012345672"];

/** What the services are given to reach the servers, by the names of `docker/secrets.env`. */
export const secrets = {
  ANTHROPIC_ADMIN_API_KEY: "sk-ant-admin01-of-the-tests",
  GOOGLE_CLIENT_SECRET: "GOCSPX-of-the-tests",
  GOOGLE_TOKEN_KEY: "ab".repeat(32),
} as const;
export const GOOGLE_CLIENT_ID = "tests.apps.googleusercontent.com";
export const SHOP_KEY = "shop-key-of-the-tests";

/** Servers in the place of those that tools reach, with what calls.ts asks for. */
export const standIns = {
  async google() {
    const google = await startGoogleServer({ id: GOOGLE_CLIENT_ID, secret: secrets.GOOGLE_CLIENT_SECRET });
    google.addAccount(ACCOUNT).messages.push(mail);
    google.oauth.consent = { account: ACCOUNT };
    return google;
  },
  async linkedin() {
    const site = await startLinkedinJobsSite();
    const facts = {
      company: "Example",
      location: "Berlin",
      posted: "2025-08-01",
      description: "<p>Build the platform.</p>",
    };
    site.postings = JOBS.map((id) => ({ id, title: `Engineer ${id}`, ...facts }));
    return site;
  },
  async anthropic() {
    const api = await startAnthropicAdminServer(secrets.ANTHROPIC_ADMIN_API_KEY);
    const day = { starting_at: "2025-08-01T00:00:00Z", ending_at: "2025-08-02T00:00:00Z" };
    api.entries["/v1/organizations/cost_report"] = [
      { ...day, results: [{ currency: "USD", amount: "125", description: "tokens" }] },
    ];
    return api;
  },
  /** A service that repeats the request to a client with the key, and has an OpenAPI document for anybody. */
  shop: () =>
    startRecordingServer(({ method, target, headers, body }, response) => {
      const isKnown = headers.authorization === `Bearer ${SHOP_KEY}`;
      const isDocument = target === "/openapi.json";
      response.writeHead(isKnown || isDocument ? 200 : 401, { "content-type": "application/json" });
      response.end(JSON.stringify(isDocument ? shopDocument : { asked: `${method} ${target} ${body}`.trim() }));
    }),
  /** An agent that says what it was asked, by A2A. Its card names the place at which it was asked for. */
  outside: () =>
    startRecordingServer(({ target, headers, body }, response) => {
      const { id, params } = target === "/rpc" ? JSON.parse(body.toString()) : {};
      const message = {
        messageId: "answer",
        role: "ROLE_AGENT",
        parts: [{ text: `You asked: ${params?.message?.parts?.[0]?.text}` }],
      };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify(
          target === "/rpc" ? { jsonrpc: "2.0", id, result: { message } } : outsideCard(`http://${headers.host}/rpc`),
        ),
      );
    }),
  /** A page whose text its script writes. */
  site: () =>
    startRecordingServer(({ target }, response) => {
      const isScript = target === "/app.js";
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" });
      response.end(
        isScript
          ? `root.innerHTML = "<h1>Drawn</h1>"`
          : `<title>App</title><div id="root"></div><script src="/app.js"></script>`,
      );
    }),
} as const satisfies Readonly<Record<string, () => Promise<AsyncDisposable & { readonly url: string }>>>;

/** The file of endpoints for the shop at `url`. */
export function restFile(url: string): object {
  const parametersOf = (name: string) => ({
    type: "object",
    required: [name],
    properties: { [name]: { type: "string" } },
  });
  return {
    credentials: { shop: { origins: [url], env: "SHOP_KEY" } },
    tools: {
      item: { url: `${url}/items/\${parameters.id}`, credential: "shop", parametersSchema: parametersOf("id") },
      add: { url: `${url}/items`, method: "POST", credential: "shop", parametersSchema: parametersOf("name") },
    },
    openapi: { shop: { document: `${url}/openapi.json`, credential: "shop" } },
  };
}

const outsideCard = (url: string) => ({
  name: "Outside",
  description: "Says what it was asked.",
  version: "1",
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: {},
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "say", name: "Say", description: "Says it.", tags: [] }],
});

/** The file of agents with the one at `url`. */
export const agentsFile = (url: string): object => ({ agents: { outside: { url } } });

const shopDocument = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1" },
  paths: {
    "/items/{id}": {
      get: {
        operationId: "getItem",
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
      },
    },
  },
};

const text = Buffer.from("At noon?");
const mail: GmailMessage = {
  ...{ id: "a1", threadId: "a10", labelIds: ["INBOX"], snippet: "", internalDate: "1754006400000" },
  payload: {
    mimeType: "text/plain",
    headers: [
      { name: "From", value: "carol@example.org" },
      { name: "Subject", value: "Lunch" },
    ],
    body: { size: text.length, data: text.toString("base64url") },
  },
};
