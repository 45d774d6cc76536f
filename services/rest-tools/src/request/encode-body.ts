import { randomUUID } from "node:crypto";
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
  readonly contentType?: unknown;
  readonly explode?: boolean | undefined;
  readonly style?: string | undefined;
}

/** @throws {ToolError} if the value is none of this type */
export function encodeBody(
  type: BodyType,
  value: unknown,
  { contentType, encoding = {} }: { readonly contentType?: string | undefined; readonly encoding?: FormEncoding } = {},
): EncodedBody {
  switch (type) {
    case "json":
      return { contentType: contentType ?? "application/json", body: JSON.stringify(value) };
    case "form":
      return {
        contentType: contentType ?? "application/x-www-form-urlencoded",
        body: formText(fieldsOf(value), encoding),
      };
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
    if (encoding[name]?.style === "deepObject" && typeof value === "object")
      return deepPairs(name, encodeKey(name, name), value);
    const explodes = encoding[name]?.explode ?? true;
    const values =
      Array.isArray(value) && explodes ? value : [Array.isArray(value) ? value.map(textOf).join(",") : value];
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

/** A part of a form. One with a `filename` is a file to servers, one without is a field. */
interface FormPart {
  readonly name: string;
  readonly filename?: string;
  readonly type?: string | undefined;
  readonly content: string | Uint8Array;
}

/**
 * A form of several parts. The platform's FormData gives a type to files only, and servers refuse a file where they
 * expect a field.
 * @see RFC 7578, and the WHATWG's "multipart/form-data encoding algorithm" for the names
 */
function multipart(fields: Readonly<Record<string, unknown>>, encoding: FormEncoding): EncodedBody {
  const boundary = `form-${randomUUID()}`;
  const pieces: (string | Uint8Array)[] = [];
  for (const [name, value] of Object.entries(fields))
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === undefined || each === null) continue;
      const { filename, type, content } = formPart(name, each, namedType(encoding[name]?.contentType));
      const file = filename === undefined ? "" : `; filename="${quoted(filename)}"`;
      const typed = type === undefined ? "" : `content-type: ${type}\r\n`;
      pieces.push(
        `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"${file}\r\n${typed}\r\n`,
        content,
        "\r\n",
      );
    }
  const body = Buffer.concat(
    [...pieces, `--${boundary}--\r\n`].map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)),
  );
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

/** @param named the type that the document gives to the property */
function formPart(name: string, value: unknown, named: string | undefined): FormPart {
  if (isFile(value)) {
    const own =
      typeof value.contentType === "string" && MEDIA_TYPE.test(value.contentType) ? value.contentType : undefined;
    return {
      name,
      filename: textOf(value.filename ?? name),
      type: own ?? named ?? "application/octet-stream",
      content: bytesOf(name, value.base64),
    };
  }
  return { name, type: named ?? (typeof value === "object" ? "application/json" : undefined), content: textOf(value) };
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

/** No name or file name breaks out of its line. */
const quoted = (text: string): string => text.replaceAll(/[\r\n"]/g, encodeURIComponent);

/** A document may name several types for a part, and may leave a part of them open. */
function namedType(types: unknown): string | undefined {
  return String(types ?? "")
    .split(",")
    .map((type) => type.trim())
    .find((type) => MEDIA_TYPE.test(type));
}

function bytesOf(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  const text = textOf(value);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw refusal(name, "expected bytes in base64");
  return new Uint8Array(Buffer.from(text, "base64"));
}
