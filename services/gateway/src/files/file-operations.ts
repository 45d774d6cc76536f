const error = { $ref: "#/components/responses/Error" };
const json = (schema: object): object => ({ "application/json": { schema } });
const file = { $ref: "#/components/schemas/File" };

/** The paths of `/v1/files` in the OpenAPI document. */
export const filePaths = {
  "/v1/files": {
    get: {
      operationId: "listFiles",
      summary: "List the caller's files, the newest first.",
      responses: {
        200: {
          description: "OK",
          content: json({ type: "object", required: ["files"], properties: { files: { type: "array", items: file } } }),
        },
        default: error,
      },
    },
    put: {
      operationId: "putFile",
      summary: "Keep a file for 24 hours. Calls name it by its handle.",
      parameters: [
        {
          name: "name",
          in: "query",
          required: true,
          description: "Its name, without folders.",
          schema: { type: "string", minLength: 1, maxLength: 255 },
        },
        { $ref: "#/components/parameters/untrusted" },
      ],
      requestBody: { required: true, content: { "application/octet-stream": {} } },
      responses: { 201: { description: "The file is kept.", content: json(file) }, default: error },
    },
  },
  "/v1/files/{handle}": {
    parameters: [{ name: "handle", in: "path", required: true, schema: { type: "string" } }],
    get: {
      operationId: "readFile",
      summary: "Read a file, or one range of it.",
      responses: {
        200: { description: "Its bytes, for saving.", content: { "application/octet-stream": {} } },
        206: { description: "The bytes of one range.", content: { "application/octet-stream": {} } },
        default: error,
      },
    },
    head: {
      operationId: "describeFile",
      summary: "Tell of a file what `readFile` tells in its headers.",
      responses: { 200: { description: "It is there." }, default: { description: "It is not." } },
    },
    delete: {
      operationId: "deleteFile",
      summary: "Delete a file before it expires.",
      responses: { 204: { description: "It is gone." }, default: error },
    },
  },
};

/** The schemas of these paths. */
export const fileSchemas = {
  File: {
    type: "object",
    required: ["handle", "name", "type", "size", "isUntrusted", "expiresAt"],
    properties: {
      handle: { type: "string", description: "Names the file in calls of its caller. It means nothing to others." },
      name: { type: "string" },
      type: { type: "string", description: "One of a short list; bytes if unknown." },
      size: { type: "integer", minimum: 0 },
      isUntrusted: { type: "boolean", description: "True if strangers wrote it, or it was made of what they wrote." },
      expiresAt: { type: "string", format: "date-time" },
    },
  },
};
