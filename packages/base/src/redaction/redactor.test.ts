import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor } from "./redactor.ts";

const secret = 'p"ä$\\w+rd/&<s> n°1?%';

const forms: readonly [string, (text: string) => string][] = [
  ["as it is", (text) => text],
  ["in base64", (text) => Buffer.from(text).toString("base64")],
  ["in base64 after one byte", (text) => Buffer.from(`a${text}bc`).toString("base64")],
  ["in base64 after two bytes", (text) => Buffer.from(`ab${text}c`).toString("base64")],
  ["in base64url", (text) => Buffer.from(`a${text}b`).toString("base64url")],
  ["as a part of a URL", encodeURIComponent],
  [
    "as a part of a URL in small letters",
    (text) => encodeURIComponent(text).replaceAll(/%../g, (it) => it.toLowerCase()),
  ],
  ["in a form", (text) => new URLSearchParams({ text }).toString()],
  ["as a URL's password", (text) => Object.assign(new URL("http://user@host/"), { password: text }).href],
  ["in JSON", (text) => JSON.stringify({ text })],
  ["in JSON inside JSON", (text) => JSON.stringify(JSON.stringify({ text }))],
];

/** Tells whether the text shows the secret in any form: it decodes the text, and does not use our encodings. */
function canBeRead(text: string, hidden: string): boolean {
  const decoded = [text, percentDecoded(text), percentDecoded(text.replaceAll("+", " "))];
  for (let depth = 0, json = text; depth < 2; depth++) {
    json = decode(() => JSON.parse(`"${json.replace(/^"|"$/g, "").replaceAll(/(?<!\\)"/g, '\\"')}"`) as string);
    decoded.push(json);
  }
  for (const run of text.match(/[\w+/-]{8,}/g) ?? []) {
    for (let skip = 0; skip < 4; skip++) decoded.push(Buffer.from(run.slice(skip), "base64").toString());
  }
  return decoded.some((it) => it.includes(hidden));
}

/** A percent sign that begins no byte stands for itself. */
const percentDecoded = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => decode(() => decodeURIComponent(bytes)) || bytes);

function decode(decoder: () => string): string {
  try {
    return decoder();
  } catch {
    return "";
  }
}

test.each(forms)("a secret %s is taken out, and what stands around it is not", (_, encode) => {
  const redactor = createRedactor();
  redactor.register(secret);
  const text = `before ${encode(secret)} after`;
  const clean = redactor.redact(text);

  expect(canBeRead(text, secret)).toBe(true);
  expect(canBeRead(clean, secret)).toBe(false);
  expect(clean).toMatch(/^before .*\[redacted\].* after$/);
});

test("no secret can be read in any form, alone or among others, and a text without any stays as it is", () => {
  const text = fc.string({ maxLength: 60, unit: "binary" });
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 8, maxLength: 40, unit: "grapheme" }), { minLength: 1, maxLength: 5 }),
      text,
      text,
      (secrets, before, after) => {
        const redactor = createRedactor();
        for (const each of secrets) redactor.register(each);
        for (const each of secrets)
          for (const [, encode] of forms)
            expect(canBeRead(redactor.redact(`${before} ${encode(each)} ${after}`), each.toWellFormed())).toBe(false);
        const other = `${before}${after}`;
        if (!secrets.some((each) => other.includes(each))) expect(redactor.redact(other)).toBe(other);
      },
    ),
    { numRuns: 20 },
  );
});

test("a secret that markdown would read as more than text is taken out of markdown", () => {
  const redactor = createRedactor();
  redactor.register("sk_live_<key>#1");

  expect(redactor.redact("sk\\_live\\_\\<key\\>\\#1, sk\\_live\\_<key>#1")).toBe("[redacted], [redacted]");
});

test("each place of a secret is redacted, the longer of two that begin alike as a whole", () => {
  const redactor = createRedactor();
  redactor.register("canary-one");
  redactor.register("canary-one-and-more");
  redactor.register("another-secret");

  expect(redactor.redact("canary-onecanary-one-and-more,another-secret,canary-on")).toBe(
    "[redacted][redacted],[redacted],canary-on",
  );
});

test("a secret's lines are secrets, and what is too short to be told from other texts is not", () => {
  const redactor = createRedactor();
  redactor.register("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nabc\n-----END KEY-----\n");
  redactor.register("guest");

  expect(redactor.redact("line MIIEvQIBADANBgkqhkiG of abc")).toBe("line [redacted] of abc");
  expect(redactor.redact("no guest is hidden")).toBe("no guest is hidden");
});

test("a value's texts and names are redacted at any depth, and a value without secrets is the same object", () => {
  const redactor = createRedactor();
  redactor.register("canary-secret");
  const clean = { list: [1, null, { text: "fine" }] };

  expect(redactor.redactValue({ a: ["x canary-secret"], "canary-secret": { b: "canary-secret", c: 1 } })).toEqual({
    a: ["x [redacted]"],
    "[redacted]": { b: "[redacted]", c: 1 },
  });
  expect(redactor.redactValue(clean)).toBe(clean);
});

test("of more than a thousand secrets the oldest are forgotten", () => {
  const redactor = createRedactor();
  for (let index = 0; index <= 1000; index++) redactor.register(`secret-number-${index}-`);

  expect(redactor.redact("secret-number-0- secret-number-1- secret-number-1000-")).toBe(
    "secret-number-0- [redacted] [redacted]",
  );
});
