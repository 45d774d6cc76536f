import { setImmediate as breathe } from "node:timers/promises";
import { isRecord } from "@rockbot/base";
import { cleanText, isTooDeep } from "@rockbot/mcp/schema";
import { findGlob } from "@rockbot/policy";
import { HANDLE_PATTERN } from "@rockbot/records/files";
import type { SeenTool } from "@rockbot/trust";
import type { SaidGrant } from "../credentials/client-tokens.ts";
import { type Credential, type CredentialPlace, type CredentialUse, grantOf } from "../credentials/credential.ts";
import { type BodyType, encodeBody, type FormEncoding } from "../request/encode-body.ts";
import { checkSegments, encodeValue, isForbiddenHeader, refusal } from "../request/place-value.ts";
import type { PreparedRequest } from "../request/prepared-request.ts";
import type { RestOperation } from "../rest-operation.ts";
import type { DocumentImport, OperationFilter } from "./document-import.ts";
import type { Json, OpenApiDocument } from "./open-api-document.ts";
import { operationNames } from "./operation-names.ts";
import { cookieText, headerText, type Parameter, pathText, queryPairs } from "./serialize-parameter.ts";
import { ToolSchemas } from "./tool-schema.ts";

/** An operation of a document as a tool, with what is pinned of it. */
export interface ImportedOperation {
  readonly operation: RestOperation;
  /** The document's words on it, without those of the operator's file. */
  readonly seen: SeenTool & { readonly concerns: readonly string[] };
  /** `METHOD /path`, and its id: by either the file names it. */
  readonly id: string;
}

export interface ImportedOperations {
  readonly operations: readonly ImportedOperation[];
  /** The operations that cannot be tools, and other parts that are not read. */
  readonly leftOut: readonly LeftOut[];
}

interface LeftOut {
  readonly id: string;
  readonly why: string;
}

/** Beyond, a file that filters is asked for. */
const MAX_OPERATIONS = 2_000;
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const MAX_DESCRIPTION = 4_000;

interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operationId: string | undefined;
  readonly item: Json;
  readonly entry: Json;
}

/**
 * The milliseconds that a document of thousands of operations is worked on at once. Then the process does what else has
 * come.
 */
const SLICE_MS = 20;

/** The operations of a document that the file asks for. @param at where the document was read; undefined for a file */
export async function importOperations(
  document: OpenApiDocument,
  from: DocumentImport,
  at: URL | undefined,
): Promise<ImportedOperations> {
  const { all, unread } = listed(document);
  const names = operationNames(all, from.naming === "own" ? from.prefix : `rest__${from.prefix}`);
  const short = operationNames(all, "");
  const operations: ImportedOperation[] = [];
  const isExcluded = (path: string): boolean =>
    isAsked({ method: "", path, operationId: undefined, entry: {} }, from.exclude, false);
  const leftOut = unread.filter(
    ({ id }) => findGlob(from.include?.paths ?? ["*"], id) !== undefined && !isExcluded(id),
  );
  if (document.hasKeyTwice)
    leftOut.push({
      id: "the first of two equal keys",
      why: "the document has a key twice in one object, and the last one counts",
    });
  let since = performance.now();
  for (const [i, one] of all.entries()) {
    if (performance.now() - since > SLICE_MS) {
      await breathe();
      since = performance.now();
    }
    if (!isAsked(one, from.include, true) || isAsked(one, from.exclude, false)) continue;
    const id = `${one.method} ${one.path}`;
    if (operations.length >= MAX_OPERATIONS) {
      leftOut.push({ id, why: `there are more than ${MAX_OPERATIONS} operations: name fewer in include` });
      continue;
    }
    try {
      operations.push(
        new OperationReader(document, from, at, one).read({ toolName: names[i] ?? "", shortName: short[i] ?? "" }),
      );
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      leftOut.push({ id, why: error.message });
    }
  }
  return { operations, leftOut };
}

/** All operations, and the paths whose operations cannot be read. */
function listed({ root, resolve }: OpenApiDocument): { readonly all: Listed[]; readonly unread: LeftOut[] } {
  const all: Listed[] = [];
  const unread: LeftOut[] = [];
  for (const [path, given] of Object.entries(root["paths"] as Json)) {
    if (path.startsWith("x-")) continue; // an extension
    let item: Json = {};
    try {
      if (!path.startsWith("/")) throw new RangeError("a path begins with a slash");
      item = resolve(given);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      unread.push({ id: path, why: error.message });
    }
    for (const method of METHODS) {
      const entry = item[method];
      if (!isRecord(entry)) continue;
      const { operationId } = entry;
      all.push({
        method: method.toUpperCase(),
        path,
        operationId: typeof operationId === "string" && operationId !== "" ? operationId : undefined,
        item,
        entry,
      });
    }
  }
  return { all, unread };
}

/** @param byDefault without a filter */
function isAsked(
  { method, path, operationId, entry }: Omit<Listed, "item">,
  filter: OperationFilter | undefined,
  byDefault: boolean,
): boolean {
  if (filter === undefined) return byDefault;
  const { tags, operations, paths, methods } = filter;
  const own = Array.isArray(entry["tags"]) ? entry["tags"] : [];
  return (
    (tags === undefined || tags.some((tag) => own.includes(tag))) &&
    (operations === undefined || (operationId !== undefined && findGlob(operations, operationId) !== undefined)) &&
    (paths === undefined || findGlob(paths, path) !== undefined) &&
    (methods === undefined || methods.some((each) => each.toUpperCase() === method))
  );
}

/** Two parameters of one key are one. The case of a header's name means nothing. */
const placeKey = (place: unknown, name: unknown): string =>
  `${place} ${place === "header" ? String(name).toLowerCase() : name}`;

interface BodyPlan {
  readonly argument: string;
  readonly type: BodyType;
  /** As the document has it; with `*` where it leaves a part open. */
  readonly mediaType: string;
  readonly encoding: FormEncoding;
}

class OperationReader {
  readonly #document: OpenApiDocument;
  readonly #from: DocumentImport;
  readonly #at: URL | undefined;
  readonly #one: Listed;
  readonly #schemas: ToolSchemas;
  readonly #properties: Record<string, unknown> = {};
  readonly #required: string[] = [];

  constructor(document: OpenApiDocument, from: DocumentImport, at: URL | undefined, one: Listed) {
    this.#document = document;
    this.#from = from;
    this.#at = at;
    this.#one = one;
    this.#schemas = new ToolSchemas(document);
  }

  /** @throws {RangeError} that says why it can be no tool */
  read({ toolName, shortName }: { readonly toolName: string; readonly shortName: string }): ImportedOperation {
    const { method, path, operationId, entry } = this.#one;
    const id = `${method} ${path}`;
    if (method === "TRACE") throw new RangeError("requests of this method show credentials, and are not sent");
    const settings =
      this.#from.operations.get(id) ??
      (operationId === undefined ? undefined : this.#from.operations.get(operationId)) ??
      {};
    const server = this.#server();
    const { uses, places } = this.#security();
    const parameters = this.#parameters(uses);
    const body = this.#body();
    const inputSchema = {
      type: "object",
      additionalProperties: false,
      properties: this.#properties,
      ...(this.#required.length === 0 ? {} : { required: this.#required }),
      ...(Object.keys(this.#schemas.parts).length === 0 ? {} : { $defs: this.#schemas.parts }),
    };
    if (isTooDeep(inputSchema)) throw new RangeError("its schema is nested too deeply");
    const description = describe(entry, `${method} ${path}`);
    const isReadOnly = method === "GET" || method === "HEAD" || method === "OPTIONS";
    const plan: RequestPlan = { method, base: server, path, parameters, body };
    const seen = {
      name: shortName,
      description,
      inputSchema,
      annotations: {
        method,
        address: `${this.#from.server === undefined ? server : ""}${path}`,
        parameters: parameters.map(({ argument, name, in: place, style, explode }) => [
          argument,
          place,
          name,
          style,
          explode,
        ]),
        body: body === undefined ? null : [body.argument, body.mediaType],
        credentials: places,
      },
      concerns: this.#concerns(server, uses),
    };
    const { name: ownName } = settings;
    return {
      id,
      seen,
      operation: {
        toolName: ownName === undefined ? toolName : this.#from.naming === "own" ? ownName : `rest__${ownName}`,
        description: settings.description ?? description,
        inputSchema,
        method,
        isReadOnly: settings.readOnly ?? isReadOnly,
        cacheSeconds: settings.cacheSeconds,
        idempotencyKey: settings.idempotencyKey,
        select: settings.select,
        paging: settings.paging,
        credentials: uses,
        prepare: (args) => prepareByPlan(plan, args),
      },
    };
  }

  /** A place that neither the file nor a credential names is the document's own choice: an operator looks at it. */
  #concerns(server: string, uses: readonly CredentialUse[]): string[] {
    const { origins, server: own, credential, credentials } = this.#from;
    if (own !== undefined) return [];
    const named = [
      ...(origins ?? []).map((origin) => new URL(origin).origin),
      ...[credential, ...credentials.values(), ...uses.map((use) => use.credential)].flatMap((each) => [
        ...(each?.origins ?? []),
      ]),
    ];
    const known = new Set(named.length === 0 && this.#at !== undefined ? [this.#at.origin] : named);
    const { origin } = new URL(server);
    return known.has(origin)
      ? []
      : [`calls ${origin}, which is not one of the origins that the file of REST tools names for "${this.#from.name}"`];
  }

  /** The address that the paths are added to. */
  #server(): string {
    const { server: own, serverVariables = {} } = this.#from;
    const { item, entry } = this.#one;
    const lists = [entry["servers"], item["servers"], this.#document.root["servers"]];
    const first = own === undefined ? lists.find((list) => Array.isArray(list) && list.length > 0) : [{ url: own }];
    const server = Array.isArray(first) && isRecord(first[0]) ? first[0] : { url: "/" };
    const variables = isRecord(server["variables"]) ? server["variables"] : {};
    const filled = String(server["url"] ?? "/").replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
      const variable = variables[name];
      const { default: preset, enum: values } = isRecord(variable) ? variable : {};
      const value =
        (Object.hasOwn(serverVariables, name) ? serverVariables[name] : undefined) ??
        (typeof preset === "string" ? preset : undefined);
      if (value === undefined)
        throw new RangeError(`its server has a variable "${name}" without a value: give one in serverVariables`);
      if (Array.isArray(values) && values.length > 0 && !values.includes(value))
        throw new RangeError(`its server's variable "${name}" is none of ${values.join(", ").slice(0, 200)}`);
      return value;
    });
    const url = URL.parse(filled, this.#at?.href);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
      throw new RangeError(
        `its server "${filled.slice(0, 100)}" is no http(s) address: give one as "server" in the file`,
      );
    return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  }

  /** @param uses the credentials of the request: no argument stands where one of them goes */
  #parameters(uses: readonly CredentialUse[]): Parameter[] {
    const { item, entry, path } = this.#one;
    const merged = new Map<string, Json>();
    for (const given of [item["parameters"], entry["parameters"]].flatMap((list) =>
      Array.isArray(list) ? list : [],
    )) {
      const parameter = this.#document.resolve(given);
      merged.set(placeKey(parameter["in"], parameter["name"]), parameter);
    }
    for (const { place } of uses) merged.delete(placeKey(place.in, place.name));
    for (const [, name = ""] of path.matchAll(/\{([^{}]*)\}/g))
      if (!merged.has(`path ${name}`)) merged.set(`path ${name}`, { name, in: "path", schema: { type: "string" } });
    return [...merged.values()].flatMap((parameter) => this.#parameter(parameter) ?? []);
  }

  #parameter(given: Json): Parameter | undefined {
    const { name, in: place, required, description, content } = given;
    if (typeof name !== "string" || (place !== "path" && place !== "query" && place !== "header" && place !== "cookie"))
      return undefined;
    // By the specification these are no parameters, whatever stands there: what is sent says what it is, and
    // credentials have schemes.
    if (place === "header" && (isForbiddenHeader(name) || /^accept$/i.test(name))) return undefined;
    if (place === "path" && !this.#one.path.includes(`{${name}}`)) return undefined;
    const [media] = isRecord(content) ? Object.entries(content) : [];
    const schema = this.#schemas.schema(
      media === undefined ? given["schema"] : isRecord(media[1]) ? media[1]["schema"] : {},
    );
    const argument = this.#argument(name, place, {
      ...(isRecord(schema) ? schema : {}),
      ...(typeof description === "string" ? { description: cleanText(description, 1_000) } : {}),
    });
    if (required === true || place === "path") this.#required.push(argument);
    const style =
      typeof given["style"] === "string" ? given["style"] : place === "query" || place === "cookie" ? "form" : "simple";
    const explode = typeof given["explode"] === "boolean" ? given["explode"] : style === "form";
    return {
      argument,
      name,
      in: place,
      style,
      explode,
      allowReserved: given["allowReserved"] === true,
      isJson: media !== undefined && /json/i.test(media[0]),
    };
  }

  /** Takes a name for an argument that models' APIs take, and no other argument has. */
  #argument(name: string, place: string, schema: object): string {
    const clean = (text: string): string =>
      text
        .replaceAll(/[^A-Za-z0-9_.-]+/g, "_")
        .replaceAll(/^_+(?=.)|(?<=.)_+$/g, "")
        .slice(0, 60) || place;
    const candidates = [clean(name), clean(`${place}_${name}`)];
    let argument = candidates.find((each) => !Object.hasOwn(this.#properties, each)) ?? "";
    for (let n = 2; argument === "" || Object.hasOwn(this.#properties, argument); n++)
      argument = `${candidates[1]}_${n}`;
    this.#properties[argument] = schema;
    return argument;
  }

  #body(): BodyPlan | undefined {
    const { entry } = this.#one;
    if (entry["requestBody"] === undefined) return undefined;
    const { content, required, description } = this.#document.resolve(entry["requestBody"]);
    if (!isRecord(content)) return undefined;
    const types = Object.keys(content).filter((type) => /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+/.test(type));
    const found = BODY_TYPES.flatMap(([type, pattern]) =>
      types.filter((each) => pattern.test(each)).map((contentType) => ({ type, contentType })),
    )[0];
    if (found === undefined) return undefined;
    const { type, contentType } = found;
    const media = isRecord(content[contentType]) ? content[contentType] : {};
    const schema =
      type === "binary"
        ? {
            type: "string",
            anyOf: [{ contentEncoding: "base64" }, { pattern: HANDLE_PATTERN }],
            description: "The bytes in base64, or the handle of a file.",
          }
        : this.#schemas.schema(media["schema"], { hasFiles: type === "multipart" });
    const words = typeof description === "string" ? cleanText(description, 1_000) : undefined;
    // An object of a type such as XML is sent as the caller has written it: nothing here writes it.
    const isWritten = type === "text" && !(isRecord(schema) && schema["type"] === "string");
    const taken = isWritten
      ? { type: "string", description: `A text of the type ${cleanText(contentType, 100)}.` }
      : isRecord(schema)
        ? schema
        : {};
    const argument = this.#argument("body", "request", {
      ...taken,
      ...(words === undefined || "description" in taken ? {} : { description: words }),
    });
    if (required === true) this.#required.push(argument);
    const encoding = isRecord(media["encoding"]) ? (media["encoding"] as FormEncoding) : {};
    return { argument, type, mediaType: contentType, encoding };
  }

  /** The credentials of the first way to sign a call for which the file has them all. */
  #security(): { readonly uses: readonly CredentialUse[]; readonly places: readonly string[] } {
    const { root, resolve } = this.#document;
    const required = this.#one.entry["security"] ?? root["security"];
    const ways = Array.isArray(required) ? required.filter(isRecord) : [];
    const schemes =
      isRecord(root["components"]) && isRecord(root["components"]["securitySchemes"])
        ? root["components"]["securitySchemes"]
        : {};
    const schemesOf = (way: Json) =>
      Object.entries(way).map(([name, scopes]) => {
        const scheme = Object.hasOwn(schemes, name) ? resolve(schemes[name]) : {};
        return { name, place: schemePlace(scheme), grant: clientGrant(scheme, scopes, this.#at) };
      });
    const places = ways.map((way) =>
      JSON.stringify(
        schemesOf(way).map(({ name, place, grant }) => [name, place, ...(grant === undefined ? [] : [grant])]),
      ),
    );
    for (const way of ways) {
      const uses = schemesOf(way).map(({ name, place, grant }) => {
        const credential: Credential | undefined = this.#from.credentials.get(name) ?? this.#from.credential;
        return credential === undefined || place === undefined
          ? undefined
          : { credential, place, grant: grantOf(credential, grant) };
      });
      if (uses.length > 0 && uses.every((use) => use !== undefined)) return { uses, places };
    }
    // A document that says nothing of it: the credential stands where the file has it. An empty list says that none is
    // sent.
    const { credential } = this.#from;
    return {
      uses:
        credential === undefined || required !== undefined
          ? []
          : [{ credential, place: credential.place, grant: grantOf(credential) }],
      places,
    };
  }
}

const BODY_TYPES: readonly (readonly [BodyType, RegExp])[] = [
  ["json", /^application\/json\b/i],
  ["json", /^[^;]*\+json\b/i],
  ["form", /^application\/x-www-form-urlencoded\b/i],
  ["multipart", /^multipart\/form-data\b/i],
  ["json", /^(?:\*\/\*|application\/\*)$/],
  ["text", /^text\/|xml\b/i],
  ["binary", /./],
];

function schemePlace({ type, scheme, in: place, name }: Json): CredentialPlace | undefined {
  if (type === "http")
    return { in: "header", name: "authorization", scheme: /^basic$/i.test(String(scheme)) ? "Basic" : "Bearer" };
  if (type === "oauth2" || type === "openIdConnect") return { in: "header", name: "authorization", scheme: "Bearer" };
  if (type !== "apiKey" || typeof name !== "string" || !/^[A-Za-z0-9_.-]{1,64}$/.test(name)) return undefined;
  if (place === "query" || place === "cookie") return { in: place, name };
  return place === "header" && (!isForbiddenHeader(name) || /^authorization$/i.test(name))
    ? { in: "header", name }
    : undefined;
}

/** Where a scheme of OAuth 2 gives tokens to clients, and for which scopes an operation needs one. */
function clientGrant({ type, flows }: Json, scopes: unknown, at: URL | undefined): SaidGrant | undefined {
  const flow = type === "oauth2" && isRecord(flows) ? flows["clientCredentials"] : undefined;
  if (!isRecord(flow) || typeof flow["tokenUrl"] !== "string") return undefined;
  const names = Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : [];
  return {
    tokenUrl: URL.parse(flow["tokenUrl"], at?.href)?.href,
    scope: names.length === 0 ? undefined : names.join(" "),
  };
}

function describe({ summary, description, deprecated }: Json, fallback: string): string {
  const words = [summary, description]
    .filter((text) => typeof text === "string" && text.trim() !== "")
    .map((text) => cleanText(String(text), MAX_DESCRIPTION));
  const [first, second] = words;
  const text =
    first === undefined
      ? fallback
      : second === undefined || second.startsWith(first)
        ? (second ?? first)
        : `${first}\n\n${second}`;
  return cleanText(deprecated === true ? `${text}\n\n(Deprecated.)` : text, MAX_DESCRIPTION);
}

interface RequestPlan {
  readonly method: string;
  readonly base: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: BodyPlan | undefined;
}

function prepareByPlan(
  { method, base, path, parameters, body }: RequestPlan,
  args: Readonly<Record<string, unknown>>,
): PreparedRequest {
  const argumentOf = ({ argument }: Parameter): unknown => (Object.hasOwn(args, argument) ? args[argument] : undefined);
  const given = parameters.filter((parameter) => argumentOf(parameter) !== undefined);
  const url = new URL(base + filledPath(path, given, argumentOf));
  const inQuery = given.filter((parameter) => parameter.in === "query");
  const queryNames = new Set(parameters.flatMap((parameter) => (parameter.in === "query" ? [parameter.name] : [])));
  url.search = inQuery.flatMap((parameter) => queryPairs(parameter, argumentOf(parameter), queryNames)).join("&");
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  for (const parameter of given) {
    if (parameter.in === "header") headers[parameter.name.toLowerCase()] = headerText(parameter, argumentOf(parameter));
    if (parameter.in === "cookie") cookies.push(cookieText(parameter, argumentOf(parameter)));
  }
  if (cookies.length > 0) headers["cookie"] = cookies.join("; ");
  const value = body === undefined ? undefined : args[body.argument];
  if (body === undefined || value === undefined) return { method, url, headers };
  const encoded = encodeBody(body.type, value, {
    contentType: body.mediaType.includes("*") ? undefined : body.mediaType,
    encoding: body.encoding,
  });
  return { method, url, headers: { ...headers, "content-type": encoded.contentType }, body: encoded.body };
}

function filledPath(path: string, given: readonly Parameter[], argumentOf: (parameter: Parameter) => unknown): string {
  const inPath = new Map(
    given.flatMap((parameter) => (parameter.in === "path" ? [[parameter.name, parameter] as const] : [])),
  );
  const segments = path.split("/").map((segment) => {
    const names: string[] = [];
    const text = segment.replaceAll(/\{([^{}]*)\}|[^{}]+/g, (literal, name: string | undefined) => {
      if (name === undefined) return literal.replaceAll(/[^\w!$&'()*+,.:;=@%~-]/g, (it) => encodeValue("path", it));
      const parameter = inPath.get(name);
      const value = parameter === undefined ? undefined : argumentOf(parameter);
      if (parameter === undefined || value === null)
        throw refusal(name, "it is missing, and stands in the path of the address");
      names.push(parameter.argument);
      const filled = pathText(parameter, value);
      if (filled === "") throw refusal(parameter.argument, "it is empty, and stands in the path of the address");
      return filled;
    });
    return { text, names };
  });
  checkSegments(segments);
  return segments.map(({ text }) => text).join("/");
}
