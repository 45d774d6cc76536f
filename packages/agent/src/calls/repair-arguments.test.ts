import { expect, test } from "vitest";
import { readArguments } from "./repair-arguments.ts";

test.each([
  ["", {}],
  ["null", {}],
  ['{"a":1}', { a: 1 }],
])("%j is taken as it is", (text, value) => {
  const read = readArguments(text);
  expect(read).toEqual({ ok: true, text: expect.any(String) });
  expect(JSON.parse(read.ok ? read.text : "")).toEqual(value);
});

test.each([
  ['{"a":1,}', { a: 1 }],
  ["{'a': 'it\"s'}", { a: 'it"s' }],
  ["{a: True, b: None}", { a: true, b: null }],
  ['```json\n{"a":1}\n```', { a: 1 }],
  ['"{\\"a\\":1}"', { a: 1 }],
  ['{"a":"line\nbreak"}', { a: "line\nbreak" }],
  ['{"a":"b" "c":"d"}', { a: "b", c: "d" }],
  ['{"a": \'x\', // a comment\n "b": 2}', { a: "x", b: 2 }],
  ['{"a": 1, // a */ comment\n b: 2}', { a: 1, b: 2 }],
  ['{"url": "http://a.example/b",}', { url: "http://a.example/b" }],
])("%j can be meant in one way, and says that it was repaired", (text, value) => {
  const read = readArguments(text);
  expect(read).toMatchObject({ ok: true, repair: expect.any(String) });
  expect(JSON.parse(read.ok ? read.text : "")).toEqual(value);
});

test.each([
  '{"a": "hel',
  '{"a": 12',
  '{"a":"x}',
  '{"a": {"b":1}',
  '{"a": [1,2}',
  '{"a":1}{"b":2}',
  '{"a":1,"a":2}',
  "[1]",
  "tea, please",
  '{"a": 12345678901234567890}',
  '{"__proto__": {"a": 1}}',
])("%j may have been meant in several ways, and is refused", (text) => {
  expect(readArguments(text)).toMatchObject({ ok: false });
});
