import { isRecord } from "@rockbot/base";
import { deepPairs, encodeKey } from "./deep-pairs.ts";
import { encodeValue, refusal, textOf } from "./place-value.ts";

/** A body and what it is. */
export interface EncodedBody {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

export type BodyType = "json" | "form" | "multipart" | "text" | "binary";

/** How a property of a form is written, where the document says so. */
export type FormEncoding = Readonly<Record<string, PropertyEncoding | undefined>>;

interface PropertyEncoding {
  readonly contentType?: string | undefined;
  readonly explode?: boolean | undefined;
  readonly style?: string | undefined;
}

/** @throws {ToolError} if the value is none of this type */
export async function encodeBody(
  type: BodyType,
  value: unknown,
  { contentType, encoding = {} }: { readonly contentType?: string | undefined; readonly encoding?: FormEncoding } = {},
): Promise<EncodedBody> {
  switch (type) {
    case "json":
      return { contentType: contentType ?? "application/json", body: JSON.stringify(value) };
    case "form":
      return { contentType: contentType ?? "application/x-www-form-urlencoded", body: formText(fieldsOf(value), encoding) };
    case "multipart":
      return multipart(fieldsOf(value), encoding);
    case "text":
      return { contentType: contentType ?? "text/plain; charset=utf-8", body: textOf(value) };
    case "binary":
      return { contentType: contentType ?? "application/octet-stream", body: bytesOf("body", value) };
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw refusal("body", "expected an object, as it is sent as a form");
  return value;
}

function formText(fields: Readonly<Record<string, unknown>>, encoding: FormEncoding): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    if (encoding[name]?.style === "deepObject" && typeof value === "object") return deepPairs(name, encodeKey(name, name), value);
    const explodes = encoding[name]?.explode ?? true;
    const values = Array.isArray(value) && explodes ? value : [Array.isArray(value) ? value.map(textOf).join(",") : value];
    return values.map((each) => `${encodeValue(name, name)}=${encodeValue(name, each)}`);
  });
  return pairs.join("&");
}

/** A file in a form, as the schema of the tool asks for it. */
interface FormFile {
  readonly filename?: unknown;
  readonly contentType?: unknown;
  readonly base64?: unknown;
}

const isFile = (value: unknown): value is FormFile => isRecord(value) && typeof value["base64"] === "string";

/** The platform writes names and files of the parts so that none breaks out of its line. */
async function multipart(fields: Readonly<Record<string, unknown>>, encoding: FormEncoding): Promise<EncodedBody> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === undefined || each === null) continue;
      if (isFile(each)) {
        const type =
          typeof each.contentType === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(each.contentType) ? each.contentType : fileType(encoding[name]?.contentType);
        form.append(name, new Blob([bytesOf(name, each.base64)], { type }), textOf(each.filename ?? name));
      } else if (typeof each === "object") form.append(name, new Blob([JSON.stringify(each)], { type: "application/json" }));
      else form.append(name, textOf(each));
    }
  const response = new Response(form);
  return { contentType: response.headers.get("content-type") ?? "multipart/form-data", body: new Uint8Array(await response.arrayBuffer()) };
}

/** A document may name several types for a file, and may leave a part of them open. */
function fileType(types = ""): string {
  return (
    types
      .split(",")
      .map((type) => type.trim())
      .find((type) => type !== "" && !type.includes("*")) ?? "application/octet-stream"
  );
}

function bytesOf(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  const text = textOf(value);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw refusal(name, "expected bytes in base64");
  return new Uint8Array(Buffer.from(text, "base64"));
}
