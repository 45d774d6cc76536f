import { ToolErrorCode } from "@rockbot/contracts";
import { CallState } from "@rockbot/records/journal";
import type { ListedTool } from "@rockbot/tools";
import { chatComponents, chatPaths } from "./chat/chat-operations.ts";
import { filePaths, fileSchemas } from "./files/file-operations.ts";
import { HttpErrorCode, statusOf } from "./http/http-error.ts";

export interface OpenApiOptions {
  readonly version: string;
  /** True if requests need the bearer token. */
  readonly needsToken: boolean;
  readonly maxTimeoutMs: number;
  /** True if clients can ask the agent here. */
  readonly hasChat: boolean;
  /** True if clients can keep files here. */
  readonly hasFiles: boolean;
}

/** The OpenAPI 3.1 document of the gateway as it is now: one path for each tool, with the tool's own schemas. */
// Long because: it is one document, in the order in which it is read
export function openApiDocument(
  tools: readonly ListedTool[],
  { version, needsToken, maxTimeoutMs, hasChat, hasFiles }: OpenApiOptions,
): object {
  return {
    openapi: "3.1.1",
    info: {
      title: "RockBot gateway",
      version,
      description:
        "Calls the tools that run behind the message bus. Every call ends in exactly one answer: a result, or an error with a code.",
    },
    ...(needsToken ? { security: [{ bearer: [] }] } : {}),
    paths: {
      "/v1/tools": {
        get: operation(
          "listTools",
          "List the tools that can be called now, sorted by name.",
          objectOf(
            { tools: { type: "array", items: { $ref: "#/components/schemas/Tool" } } },
            {
              missing: {
                type: "array",
                items: { type: "string" },
                description: "Services that are there and whose tools are not known; absent if there are none.",
              },
              unusable: {
                type: "object",
                additionalProperties: { type: "string" },
                description:
                  "Why the list of a service that is missing cannot be used, by service; absent if there is none. The others have not come yet.",
              },
            },
          ),
        ),
      },
      "/v1/guides": {
        get: operation(
          "listGuides",
          "List the guides that teach how to use groups of tools.",
          objectOf({ guides: { type: "array", items: { $ref: "#/components/schemas/GuideSummary" } } }),
        ),
      },
      "/v1/guides/{name}": {
        get: {
          ...operation("readGuide", "Read one guide.", { $ref: "#/components/schemas/Guide" }),
          parameters: [{ name: "name", in: "path", required: true, schema: { type: "string" } }],
        },
      },
      "/v1/calls/{toolCallId}": {
        parameters: [
          {
            name: "toolCallId",
            in: "path",
            required: true,
            description: "The call's id, or its Idempotency-Key.",
            schema: { type: "string" },
          },
        ],
        get: operation(
          "readCall",
          "Say how a call stands, with its answer if it was made with an Idempotency-Key and ended in the last 15 minutes.",
          { $ref: "#/components/schemas/Call" },
        ),
        delete: {
          operationId: "cancelCall",
          summary:
            "Cancel a call that runs, or waits for people. One that waits, or runs detached, ends a little later.",
          responses: {
            204: { description: "The service has been told." },
            default: { $ref: "#/components/responses/Error" },
          },
        },
      },
      ...(hasChat ? chatPaths : {}),
      ...(hasFiles ? filePaths : {}),
      ...Object.fromEntries(tools.map((tool) => [`/v1/tools/${tool.name}/invoke`, { post: invokeOperation(tool) }])),
    },
    components: {
      ...(needsToken ? { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } } : {}),
      parameters: {
        session: {
          name: "rockbot-session",
          in: "header",
          description: "The working-memory namespace the call belongs to.",
          schema: { type: "string", minLength: 1, maxLength: 256 },
        },
        timeout: {
          name: "rockbot-timeout-ms",
          in: "header",
          description: "How long the call may take, in milliseconds.",
          schema: { type: "integer", minimum: 1, maximum: maxTimeoutMs },
        },
        idempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          description:
            "Identifies the call: the same key is the same call. 32 lower-case hex digits are its toolCallId, any other text is hashed to one.",
          schema: { type: "string", minLength: 1, maxLength: 256 },
        },
        age: {
          name: "rockbot-age-ms",
          in: "header",
          description:
            "How long ago the client sent the call first, in milliseconds, on a repeat of one that it has no answer to. What a service may have forgotten since ends in outcome_unknown.",
          schema: { type: "integer", minimum: 0 },
        },
        onClose: {
          name: "rockbot-on-close",
          in: "header",
          description:
            "What becomes of the call when the connection closes before its answer. `keep` needs an Idempotency-Key: GET /v1/calls/{key} has the answer.",
          schema: { enum: ["cancel", "keep"], default: "cancel" },
        },
        prefer: {
          name: "Prefer",
          in: "header",
          description:
            "`respond-async`: the call runs without its client, up to 24 hours. The answer is 202 at once, and `Location` names where its end is.",
          schema: { enum: ["respond-async"] },
        },
        untrusted: {
          name: "rockbot-untrusted",
          in: "header",
          description:
            "True if untrusted content led to the call, such as a web page that the model has read. The policy may then deny tools with effects.",
          schema: { type: "boolean", default: false },
        },
      },
      responses: {
        ...(hasChat ? chatComponents.responses : {}),
        Error: {
          description: "The call failed, or the request was refused.",
          content: json({ $ref: "#/components/schemas/Error" }),
        },
      },
      schemas: {
        ...(hasChat ? chatComponents.schemas : {}),
        ...(hasFiles ? fileSchemas : {}),
        Error: objectOf(
          {
            code: { type: "string", examples: [...Object.values(ToolErrorCode), ...Object.values(HttpErrorCode)] },
            message: { type: "string", description: "What was attempted, what is so, what to do next." },
            isRetryable: { type: "boolean" },
          },
          {
            toolCallId: { type: "string" },
            toolName: { type: "string" },
            retryAfterMs: { type: "integer", minimum: 0 },
            details: { type: "object" },
            trust,
          },
        ),
        Tool: objectOf(
          {
            name: { type: "string" },
            description: { type: "string" },
            parameters: { type: "object" },
            readOnly: { type: "boolean" },
            idempotent: { type: "boolean" },
            source: { type: "string" },
          },
          { title: { type: "string", description: "For people." }, output: { type: "object" }, trust },
        ),
        Call: objectOf(
          {
            toolCallId: { type: "string" },
            toolName: { type: "string" },
            state: { enum: [...Object.values(CallState), "waiting", "ready"] },
            attempts: { type: "integer", minimum: 1, description: "How often it was asked for under this id." },
            deadline: { type: "string", format: "date-time" },
            steps: {
              type: "array",
              items: objectOf({ step: { type: "string" }, at: { type: "string", format: "date-time" } }),
            },
          },
          {
            code: { type: "string", description: "The code of the error it ended in." },
            waitsFor: { type: "string", description: "What it waits for, such as `the approval of ann`." },
            progress: {
              type: "array",
              description: "The last 20 updates of a call that was left to a run, the oldest first.",
              items: objectOf(
                { at: { type: "string", format: "date-time" } },
                { progress: { type: "number" }, total: { type: "number" }, message: { type: "string" } },
              ),
            },
            result: { type: "object", description: "The tool's answer, as invoke gives it." },
            error: { $ref: "#/components/schemas/Error" },
          },
        ),
        GuideSummary: objectOf({ name: { type: "string" }, summary: { type: "string" } }, { trust }),
        Guide: objectOf(
          { name: { type: "string" }, summary: { type: "string" }, document: { type: "string" } },
          { trust },
        ),
        ContentTrust: {
          type: ["object", "null"],
          required: ["level", "origin"],
          description:
            "Who wrote the words; absent or null for our own. If the model reads what is untrusted and not approved, send rockbot-untrusted from then on.",
          properties: {
            level: { enum: ["system", "untrusted"] },
            origin: { type: "string", description: "Where the words are from, such as an URL or a server's name." },
            isApproved: {
              type: "boolean",
              description: "True if an operator has approved these very words of a definition.",
            },
          },
        },
      },
    },
  };
}

function invokeOperation(tool: ListedTool): object {
  const answer = objectOf(
    { toolCallId: { type: "string" }, toolName: { const: tool.name }, content: { type: ["string", "null"] } },
    {
      isError: { type: "boolean", description: "The tool ran and reports a failure of its own." },
      ...(tool.output === undefined ? {} : { structured: standalone(tool.output, `${tool.name}:output`) }),
      trust,
    },
  );
  const events =
    "Events `progress`, any number, then exactly one `result` (the answer) or `error` (an Error), each with JSON as data.";
  return {
    operationId: tool.name,
    summary: tool.description,
    tags: [tool.source],
    ...(tool.trust === undefined ? {} : { "x-trust": tool.trust }),
    parameters: ["session", "timeout", "idempotencyKey", "age", "onClose", "prefer", "untrusted"].map((name) => ({
      $ref: `#/components/parameters/${name}`,
    })),
    requestBody: { required: true, content: json(standalone(tool.parameters, `${tool.name}:parameters`)) },
    responses: {
      200: {
        description: "The tool's answer.",
        content: { ...json(answer), "text/event-stream": { schema: { type: "string", description: events } } },
      },
      ...Object.fromEntries(
        [...new Set(Object.values(ToolErrorCode).map(statusOf))]
          .sort()
          .map((status) => [status, { $ref: "#/components/responses/Error" }]),
      ),
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

/**
 * A schema with references of its own becomes a resource of its own, so that `#/…` in it points into itself, not into
 * this document.
 */
const standalone = (schema: object, name: string): object =>
  JSON.stringify(schema).includes('"$ref":"#') ? { $id: `urn:rockbot:${name}`, ...schema } : schema;

const operation = (operationId: string, summary: string, schema: object): object => ({
  operationId,
  summary,
  responses: { 200: { description: "OK", content: json(schema) }, default: { $ref: "#/components/responses/Error" } },
});

const objectOf = (required: Record<string, object>, optional: Record<string, object> = {}): object => ({
  type: "object",
  required: Object.keys(required),
  properties: { ...required, ...optional },
});

const trust = { $ref: "#/components/schemas/ContentTrust" };

const json = (schema: object): Record<string, object> => ({ "application/json": { schema } });
