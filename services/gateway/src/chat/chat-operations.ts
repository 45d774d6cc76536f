/** The parts of the OpenAPI document that are for asking the agent. */
export const chatPaths: Readonly<Record<string, object>> = {
  "/v1/chat/completions": {
    post: {
      operationId: "createChatCompletion",
      summary:
        "Ask the agent, as OpenAI's clients ask a model. It uses the tools that the caller may use, and answers.",
      parameters: [
        {
          name: "rockbot-session",
          in: "header",
          description:
            "A session of the agent, which this request continues: only the newest user message is taken. Without it the messages are the whole conversation.",
          schema: { type: "string", minLength: 1, maxLength: 128 },
        },
        { $ref: "#/components/parameters/timeout" },
        { $ref: "#/components/parameters/idempotencyKey" },
        {
          name: "rockbot-on-close",
          in: "header",
          description:
            "What becomes of the turn when the connection closes before its answer. The default is cancel without a session, and keep in one.",
          schema: { enum: ["cancel", "keep"] },
        },
        {
          name: "Last-Event-ID",
          in: "header",
          description: "Has the stream of the same Idempotency-Key go on behind this event.",
          schema: { type: "integer", minimum: 0 },
        },
      ],
      requestBody: {
        required: true,
        content: { "application/json": { schema: { $ref: "#/components/schemas/ChatRequest" } } },
      },
      responses: {
        200: {
          description: "The answer.",
          content: {
            "application/json": {
              schema: {
                type: "object",
                description: "A chat.completion. rockbot has the turn, the session and how the turn ended.",
              },
            },
            "text/event-stream": {
              schema: {
                type: "string",
                description:
                  "With stream: chunks, then [DONE]. A step of the turn is a chunk that adds nothing, with the event as rockbot.",
              },
            },
          },
        },
        default: { $ref: "#/components/responses/OpenAiError" },
      },
    },
  },
  "/v1/embeddings": {
    post: {
      operationId: "createEmbedding",
      summary: "Turn texts into vectors by the agent's model for that, as OpenAI's clients ask for it.",
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: { type: "object", required: ["input"], properties: { input: { type: ["string", "array"] } } },
          },
        },
      },
      responses: {
        200: {
          description: "The vectors, in the order of the texts.",
          content: { "application/json": { schema: { type: "object" } } },
        },
        default: { $ref: "#/components/responses/OpenAiError" },
      },
    },
  },
  "/v1/models": {
    get: {
      operationId: "listModels",
      summary: "List the agent as a model.",
      responses: {
        200: { description: "OK", content: { "application/json": { schema: { type: "object" } } } },
        default: { $ref: "#/components/responses/OpenAiError" },
      },
    },
  },
  "/v1/sessions/{id}/events": {
    get: {
      operationId: "followSession",
      summary:
        "Follow what the agent does in a session, step by step: those of the last quarter of an hour, and those to come.",
      parameters: [
        { name: "id", in: "path", required: true, schema: { type: "string", minLength: 1, maxLength: 128 } },
        {
          name: "Last-Event-ID",
          in: "header",
          description: "Goes on behind this event.",
          schema: { type: "integer", minimum: 0 },
        },
        {
          name: "after",
          in: "query",
          description: "The same, where a header cannot be sent.",
          schema: { type: "integer", minimum: 0 },
        },
      ],
      responses: {
        200: {
          description: "The events, with the kind as event, the sequence as id and JSON as data.",
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
        default: { $ref: "#/components/responses/Error" },
      },
    },
  },
};

/** What the paths refer to. */
export const chatComponents = {
  responses: {
    OpenAiError: {
      description: "The turn failed, or the request was refused. rockbot is the same as any other Error.",
      content: {
        "application/json": {
          schema: {
            type: "object",
            required: ["error"],
            properties: {
              error: {
                type: "object",
                required: ["message", "type", "param", "code"],
                properties: {
                  message: { type: "string" },
                  type: { type: "string" },
                  param: { type: ["string", "null"] },
                  code: { type: "string" },
                },
              },
              rockbot: { $ref: "#/components/schemas/Error" },
            },
          },
        },
      },
    },
  },
  schemas: {
    ChatRequest: {
      type: "object",
      description:
        "A request of OpenAI's API. Parameters that tune a model are ignored; those that would change the answer's form are refused.",
      required: ["messages"],
      properties: {
        messages: {
          type: "array",
          minItems: 1,
          items: { type: "object", required: ["role"], properties: { role: { type: "string" } } },
        },
        model: { type: "string", description: "rockbot is the model that the agent is configured with." },
        stream: { type: "boolean", default: false },
        stream_options: { type: "object", properties: { include_usage: { type: "boolean" } } },
        tools: {
          type: "array",
          items: { type: "object" },
          description: "Calls of them are returned, not run. Not in a session.",
        },
        tool_choice: { description: "Binds these tools alone: auto, none, required, or one of the type function." },
        parallel_tool_calls: { type: "boolean", default: true },
        stop: { type: ["string", "array", "null"], items: { type: "string" } },
        response_format: {
          type: "object",
          description: "The last answer is JSON: json_object, or json_schema. It is checked.",
        },
        max_completion_tokens: { type: "integer", minimum: 1 },
      },
    },
  },
};
