import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { isRecord } from "@rockbot/base";
import { ConfigError, describeFaults, parseJson } from "@rockbot/contracts";
import { readVariable } from "@rockbot/process/config";
import { type Credential, type CredentialPlace, type CredentialUse, grantOf } from "../credentials/credential.ts";
import {
  type Credential as CredentialEntry,
  type Endpoint,
  endpointsSchema,
  type Import,
  type RestToolsEndpoints,
} from "../generated/endpoints.ts";
import type { DocumentImport } from "../openapi/document-import.ts";
import { isForbiddenHeader } from "../request/place-value.ts";
import { type BodyTemplate, prepareFromTemplate, type RequestTemplate, usedBy } from "../request/template-request.ts";
import { parseTextTemplate, type TextTemplate } from "../request/text-template.ts";
import type { Paging } from "../response/next-page.ts";
import { type SelectPart, selectPart } from "../response/select-part.ts";
import type { RestOperation } from "../rest-operation.ts";
import { type FilePath, type LocatedFile, readLocatedFile } from "./located-file.ts";
import { withSmallNames } from "./with-small-names.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A tool that cannot be offered here, and what has to be set for it. */
export interface OffTool {
  readonly tool: string;
  readonly reason: string;
}

/** What a file names. */
export interface RestFile {
  readonly operations: readonly RestOperation[];
  readonly imports: readonly DocumentImport[];
  readonly off: readonly OffTool[];
  /** The names of the variables that it uses. */
  readonly variables: readonly string[];
  /** The hash of its text and of those variables' values. */
  readonly fingerprint: string;
}

/** The same for the same text and values. */
export const fingerprintOf = (text: string, values: readonly (string | undefined)[]): string =>
  createHash("sha256")
    .update(JSON.stringify([text, ...values.map((value) => value ?? null)]))
    .digest("base64url");

/**
 * Reads the operator's file. Listed variables are put in now, so that what is in them is never read as part of the
 * file.
 * @throws {ConfigError} with all faults at once, each with its line, and no value of a variable
 */
export function readRestFile(file: string, env: Env): RestFile {
  const located = readLocatedFile(file);
  const what = `the file ${file}`;
  if (located.value === undefined) throw new ConfigError(located.faults, what);
  const content = withSmallNames(located.value);
  if (!endpointsSchema.validate(content))
    throw new ConfigError(
      describeFaults(endpointsSchema.validate, endpointsSchema.schema, content, {
        maxFaults: 200,
        quoteValues: false,
      }).map(({ path, message }) => located.located(stepsOf(path, content), message)),
      what,
    );
  const reader = new FileReader(located, content, { env, folder: dirname(file) });
  const read = reader.read();
  if (reader.faults.length > 0) throw new ConfigError(reader.faults.slice(0, 200), what);
  return read;
}

/** Reads the parts of a file that fits its schema, and notes what is wrong with them. */
class FileReader {
  readonly faults: string[] = [];
  readonly #located: LocatedFile;
  readonly #content: RestToolsEndpoints;
  readonly #env: Env;
  readonly #folder: string;
  readonly #listed: ReadonlySet<string>;
  readonly #values = new Map<string, string | undefined>();
  readonly #off: OffTool[] = [];
  readonly #names = new Map<string, FilePath>();

  constructor(
    located: LocatedFile,
    content: RestToolsEndpoints,
    { env, folder }: { readonly env: Env; readonly folder: string },
  ) {
    this.#located = located;
    this.#content = content;
    this.#env = env;
    this.#folder = folder;
    this.#listed = new Set(content.environment);
  }

  read(): RestFile {
    const { naming, credentials = {}, tools = {}, endpoints = [], restTools = {}, openapi = {} } = this.#content;
    const read = new Map(
      Object.entries(credentials).flatMap(([name, entry]) =>
        entry === undefined ? [] : [[name, this.#credential(name, entry)] as const],
      ),
    );
    const listed: {
      readonly path: FilePath;
      readonly name: string | undefined;
      readonly entry: Endpoint;
      readonly naming: "prefixed" | "own" | undefined;
    }[] = [
      ...Object.entries(tools).flatMap(([name, entry]) =>
        entry === undefined ? [] : [{ path: ["tools", name], name: entry.name ?? name, entry, naming }],
      ),
      ...endpoints.map((entry, i) => ({ path: ["endpoints", i], name: entry.name, entry, naming })),
      ...(restTools.endpoints ?? []).map((entry, i) => ({
        path: ["restTools", "endpoints", i],
        name: entry.name,
        entry,
        naming: restTools.naming ?? naming,
      })),
    ];
    const operations = listed.flatMap(({ path, name, entry, naming: own }) => {
      if (name === undefined) this.#fault([...path, "name"], "is required and missing");
      const toolName = own === "own" ? (name ?? "") : `rest__${name}`;
      this.#takeName(path, toolName);
      return this.#endpoint(path, toolName, entry, read) ?? [];
    });
    const imports = Object.entries(openapi).flatMap(([name, entry]) =>
      entry === undefined ? [] : [this.#import(name, entry, read)],
    );
    const fingerprint = fingerprintOf(this.#located.text, [...this.#values.values()]);
    return { operations, imports, off: this.#off, variables: [...this.#values.keys()], fingerprint };
  }

  #import(name: string, entry: Import, credentials: ReadonlyMap<string, Credential>): DocumentImport {
    const path = ["openapi", name];
    for (const [at, credential] of [
      [[...path, "credential"], entry.credential] as const,
      ...Object.entries(entry.credentials ?? {}).map(
        ([scheme, used]) => [[...path, "credentials", scheme], used] as const,
      ),
    ])
      if (credential !== undefined && !credentials.has(credential))
        this.#fault(at, `there is no credential "${credential}" in credentials`);
    const operationSettings = Object.entries(entry.operations ?? {}).map(
      ([id, settings]) =>
        [
          id,
          {
            name: settings?.name,
            description: settings?.description,
            readOnly: settings?.readOnly,
            idempotencyKey: settings?.idempotencyKey,
            cacheSeconds: settings?.cacheSeconds,
            select: this.#select([...path, "operations", id, "select"], settings?.select),
            paging: this.#paging([...path, "operations", id, "paging"], settings?.paging),
          },
        ] as const,
    );
    return {
      ...entry,
      name,
      folder: this.#folder,
      prefix: entry.prefix ?? `${name}_`,
      naming: this.#content.naming ?? "prefixed",
      credential: entry.credential === undefined ? undefined : credentials.get(entry.credential),
      credentials: new Map(
        Object.entries(entry.credentials ?? {}).flatMap(([scheme, used]) =>
          used === undefined || !credentials.has(used) ? [] : [[scheme, credentials.get(used) as Credential] as const],
        ),
      ),
      operations: new Map(operationSettings),
    } satisfies DocumentImport;
  }

  #takeName(path: FilePath, toolName: string): void {
    if (toolName.length > 64)
      this.#fault(path, `its tool would be called ${toolName}, and a name has at most 64 characters`);
    const other = this.#names.get(toolName.toLowerCase());
    if (other !== undefined) this.#fault(path, `there is a tool of this name already, at ${other.join(".")}`);
    this.#names.set(toolName.toLowerCase(), path);
  }

  #credential(
    name: string,
    { type = "bearer", origins, env, accounts = {}, header, query, cookie, tokenUrl, scope }: CredentialEntry,
  ): Credential {
    const path = ["credentials", name];
    const variables = [
      ...(env === undefined ? [] : [env]),
      ...Object.values(accounts).filter((variable) => variable !== undefined),
    ];
    if (variables.length === 0) this.#fault(path, `it needs "env", a variable with its value, or "accounts"`);
    if (type !== "api_key" && (header ?? query ?? cookie) !== undefined)
      this.#fault(path, `"header", "query" and "cookie" belong to the type api_key`);
    if ([header, query, cookie].filter((place) => place !== undefined).length > 1)
      this.#fault(path, `"header", "query" and "cookie": give one of them`);
    if (type !== "client_credentials" && (tokenUrl ?? scope) !== undefined)
      this.#fault(path, `"tokenUrl" and "scope" belong to the type client_credentials`);
    if (tokenUrl !== undefined && !isPlainUrl(tokenUrl))
      this.#fault([...path, "tokenUrl"], "expected http(s)://HOST/…, without a password and a fragment");
    const read = (variable: string) => () => this.#value(variable);
    return {
      kind: name,
      origins: new Set(origins.map((origin, i) => this.#origin([...path, "origins", i], origin))),
      own: env === undefined ? undefined : read(env),
      accounts: new Map(
        Object.entries(accounts).flatMap(([account, variable]) =>
          variable === undefined ? [] : [[account, read(variable)] as const],
        ),
      ),
      place: placeOf(type, { header, query, cookie }),
      client: type === "client_credentials" ? { tokenUrl, scope } : undefined,
      missing: variables.map((variable) => this.#value(variable)).some((value) => value !== undefined)
        ? undefined
        : `set ${variables.slice(0, 5).join(" or ")}`,
    };
  }

  #origin(path: FilePath, text: string): string {
    const url = URL.parse(text);
    if (url === null || url.pathname !== "/")
      this.#fault(path, "expected a scheme and a host, such as https://api.example.com");
    return url?.origin ?? "";
  }

  // Long because: the properties of an endpoint are read side by side, each with its faults
  #endpoint(
    path: FilePath,
    toolName: string,
    entry: Endpoint,
    credentials: ReadonlyMap<string, Credential>,
  ): RestOperation | undefined {
    const {
      description,
      headers = {},
      query = {},
      body,
      bodyType = "json",
      sendBodyAsJson = true,
      idempotencyKey,
      cacheSeconds,
    } = entry;
    const method = (entry.method ?? "GET").toUpperCase();
    if (!/^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method))
      this.#fault([...path, "method"], "expected GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS");
    const missing = new Set<string>();
    const template = (at: FilePath, text: string, hasBraces = false): TextTemplate => {
      const parsed = parseTextTemplate(
        text,
        { listed: this.#listed, value: (name) => this.#value(name) },
        { hasBraces },
      );
      for (const fault of parsed.faults) this.#fault(at, fault);
      for (const name of parsed.missing) missing.add(name);
      return parsed.template;
    };
    const address = this.#address(path, entry, template, missing);
    for (const name of Object.keys(headers))
      if (
        /^(?:host|content-length|transfer-encoding|connection)$/i.test(name) ||
        (isForbiddenHeader(name) && !/^(?:authorization|cookie|content-type|origin|referer)$/i.test(name))
      )
        this.#fault([...path, "headers", name], "no file sets this header");
    const headerTemplates = Object.entries(headers).map(
      ([name, text = ""]) => [name, template([...path, "headers", name], text)] as const,
    );
    for (const [name, parts] of headerTemplates)
      if (parts.some((part) => typeof part === "string" && /[^\t\x20-\x7e]/.test(part)))
        this.#fault([...path, "headers", name], "it has characters that no HTTP header can carry");
    const bodyTemplate = body === undefined ? undefined : bodyOf(body, [...path, "body"], template);
    const takesBody = method === "POST" || method === "PUT" || method === "PATCH";
    const request: RequestTemplate = {
      method,
      ...address,
      namedQuery: Object.entries(query).map(
        ([name, text]) => [name, template([...path, "query", name], String(text ?? ""))] as const,
      ),
      headers: headerTemplates,
      body: bodyTemplate,
      bodyType,
      rest: takesBody && sendBodyAsJson ? (body === undefined ? "body" : "nowhere") : "query",
    };
    const inputSchema = this.#inputSchema([...path, "parametersSchema"], entry.parametersSchema, usedBy(request));
    const use = this.#credentialUse(path, entry, { credentials, toolName, origin: address.origin, missing });
    const unset = use.flatMap(({ credential: { kind, missing: toSet } }) =>
      toSet === undefined ? [] : [`the credential "${kind}": ${toSet}`],
    );
    const select = this.#select([...path, "select"], entry.select);
    const paging = this.#paging([...path, "paging"], entry.paging);
    if (missing.size > 0) {
      this.#off.push({
        tool: toolName,
        reason: `It needs ${[...missing].join(", ")}: set ${missing.size === 1 ? "it" : "them"}, or name ${missing.size === 1 ? "its file" : "their files"} by NAME_FILE.`,
      });
      return undefined;
    }
    if (unset.length > 0) {
      this.#off.push({ tool: toolName, reason: `It needs ${unset.join(", ")}.` });
      return undefined;
    }
    return {
      toolName,
      description:
        description ??
        `${method} ${address.origin}${address.path.map((part) => (typeof part === "string" ? part : `{${part.parameter.join(".")}}`)).join("")}`,
      inputSchema,
      method,
      isReadOnly: entry.readOnly ?? (method === "GET" || method === "HEAD" || method === "OPTIONS"),
      cacheSeconds,
      idempotencyKey,
      select,
      paging,
      credentials: use,
      prepare: (args) => prepareFromTemplate(request, args),
    };
  }

  #address(
    path: FilePath,
    { url, urlTemplate }: Endpoint,
    template: (at: FilePath, text: string, hasBraces?: boolean) => TextTemplate,
    missing: ReadonlySet<string>,
  ): Pick<RequestTemplate, "origin" | "path" | "query"> {
    const none = { origin: "https://invalid.invalid", path: ["/"], query: [] };
    if ((url === undefined) === (urlTemplate === undefined)) {
      this.#fault(
        path,
        url === undefined ? 'it needs "url" or "urlTemplate"' : 'it has both "url" and "urlTemplate": give one of them',
      );
      return none;
    }
    const at = [...path, url === undefined ? "urlTemplate" : "url"];
    const [braced] = /(?<!\$)\{[^{}]*\}/.exec(url ?? "") ?? [];
    if (braced !== undefined)
      this.#fault(
        at,
        `"${braced.slice(0, 80)}" stands for no argument here: write "$${braced.slice(0, 80).replace("{", "{parameters.")}", or "urlTemplate" in the place of "url"`,
      );
    const [first = "", ...more] = template(at, url ?? urlTemplate ?? "", urlTemplate !== undefined);
    if (missing.size > 0) return none; // not offered
    const [whole = "", origin = ""] =
      (typeof first === "string" ? /^(https?:\/\/[^/?#\\@\s]+)(?=[/?]|$)/i.exec(first) : undefined) ?? [];
    const parsed = URL.parse(whole);
    if (parsed === null || (whole === first && more.length > 0)) {
      this.#fault(at, "expected http(s)://HOST/…, where scheme, host and port are fixed: no argument stands in them");
      return none;
    }
    const rest: TextTemplate = [(first as string).slice(origin.length), ...more];
    if (rest.some((part) => typeof part === "string" && /[#\\]/.test(part)))
      this.#fault(at, "an address of an endpoint has no # and no backslash");
    return { origin: parsed.origin, ...splitAtQuery(rest) };
  }

  #inputSchema(path: FilePath, given: Endpoint["parametersSchema"], used: readonly string[]): object {
    const parsed = typeof given === "string" ? parseJson(given) : { ok: true as const, value: given ?? {} };
    if (!parsed.ok || !isRecord(parsed.value)) {
      this.#fault(path, parsed.ok ? "expected an object" : `it is ${parsed.fault.message}`);
      return {};
    }
    const schema = parsed.value;
    const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
    // An argument that stands in the address and is not described is a text.
    const added = Object.fromEntries(
      [...new Set(used)].filter((name) => !Object.hasOwn(properties, name)).map((name) => [name, { type: "string" }]),
    );
    return { type: "object", additionalProperties: false, ...schema, properties: { ...properties, ...added } };
  }

  #credentialUse(
    path: FilePath,
    { authType, authEnvVar, apiKeyHeader, credential }: Endpoint,
    parts: {
      readonly credentials: ReadonlyMap<string, Credential>;
      readonly toolName: string;
      readonly origin: string;
      readonly missing: Set<string>;
    },
  ): CredentialUse[] {
    const { credentials, toolName, origin, missing } = parts;
    if (credential !== undefined) {
      const found = credentials.get(credential);
      if (found === undefined)
        this.#fault([...path, "credential"], `there is no credential "${credential}" in credentials`);
      else if (missing.size === 0 && !found.origins.has(origin))
        this.#fault(
          [...path, "credential"],
          `the credential "${credential}" is not for ${origin}: add it to its origins, or use another`,
        );
      if (authType !== undefined) this.#fault([...path, "authType"], '"credential" and "authType": give one of them');
      if (found?.client !== undefined && found.client.tokenUrl === undefined) {
        this.#fault(
          [...path, "credential"],
          `the credential "${credential}" needs "tokenUrl" to be used here: no document says where its tokens come from`,
        );
        return [];
      }
      return found === undefined ? [] : [{ credential: found, place: found.place, grant: grantOf(found) }];
    }
    if (authType === undefined || authType === "none") return [];
    if (authEnvVar === undefined) {
      this.#fault([...path, "authEnvVar"], `the authType "${authType}" needs it: the variable with the token or key`);
      return [];
    }
    if (this.#value(authEnvVar) === undefined) missing.add(authEnvVar);
    const place = placeOf(authType, { header: apiKeyHeader });
    return [
      {
        credential: {
          kind: toolName,
          origins: new Set([origin]),
          own: () => this.#value(authEnvVar),
          accounts: new Map(),
          place,
          missing: undefined,
        },
        place,
      },
    ];
  }

  #select(path: FilePath, expression: string | undefined): SelectPart | undefined {
    if (expression === undefined) return undefined;
    try {
      return selectPart(expression);
    } catch (error) {
      this.#fault(path, (error as Error).message);
      return undefined;
    }
  }

  #paging(path: FilePath, paging: Endpoint["paging"]): Paging | undefined {
    if (paging === undefined) return undefined;
    const { link = false, next, query, from, step = 1, items, maxPages = 5 } = paging;
    if (!link && next === undefined && (query === undefined || from === undefined))
      this.#fault(path, 'it needs "link", or "next", or "query" with "from"');
    return {
      link,
      next: this.#select([...path, "next"], next),
      query,
      from,
      step,
      items: this.#select([...path, "items"], items),
      maxPages,
    };
  }

  #value(name: string): string | undefined {
    if (!this.#values.has(name)) this.#values.set(name, readVariable(name, this.#env));
    return this.#values.get(name);
  }

  #fault(path: FilePath, message: string): void {
    this.faults.push(this.#located.located(path, message));
  }
}

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && url.hash === "";
}

/** Where a credential of the file stands. */
function placeOf(
  type: NonNullable<CredentialEntry["type"]>,
  {
    header,
    query,
    cookie,
  }: {
    readonly header?: string | undefined;
    readonly query?: string | undefined;
    readonly cookie?: string | undefined;
  },
): CredentialPlace {
  if (type !== "api_key") return { in: "header", name: "authorization", scheme: type === "basic" ? "Basic" : "Bearer" };
  if (query !== undefined) return { in: "query", name: query };
  return cookie === undefined ? { in: "header", name: header ?? "X-Api-Key" } : { in: "cookie", name: cookie };
}

function bodyOf(value: unknown, path: FilePath, template: (at: FilePath, text: string) => TextTemplate): BodyTemplate {
  if (typeof value === "string") return { template: template(path, value) };
  if (Array.isArray(value)) return { list: value.map((inner, i) => bodyOf(inner, [...path, i], template)) };
  if (!isRecord(value)) return { value };
  return {
    fields: Object.entries(value).map(([name, inner]) => [name, bodyOf(inner, [...path, name], template)] as const),
  };
}

/** The path, and the pairs behind the first question mark. */
function splitAtQuery(template: TextTemplate): Pick<RequestTemplate, "path" | "query"> {
  const path: (string | { readonly parameter: readonly string[] })[] = [];
  const query: (string | { readonly parameter: readonly string[] })[][] = [];
  for (const part of template) {
    const pair = query.at(-1);
    if (typeof part !== "string") (pair ?? path).push(part);
    else if (pair === undefined) {
      const at = part.indexOf("?");
      path.push(at < 0 ? part : part.slice(0, at));
      if (at >= 0)
        query.push(
          ...part
            .slice(at + 1)
            .split("&")
            .map((text) => [text]),
        );
    } else {
      const [first = "", ...more] = part.split("&");
      pair.push(first);
      query.push(...more.map((text) => [text]));
    }
  }
  return { path, query: query.filter((pair) => pair.some((part) => part !== "")) };
}

/** The steps of a JSON pointer; a step into a list is a number. */
function stepsOf(pointer: string, root: unknown): FilePath {
  let at = root;
  return pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const step = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const key = Array.isArray(at) ? Number(step) : step;
      at = (at as Record<string | number, unknown> | undefined)?.[key];
      return key;
    });
}
