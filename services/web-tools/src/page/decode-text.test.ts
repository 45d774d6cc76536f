import { expect, test } from "vitest";
import { decodeText } from "./decode-text.ts";

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));

test.each([
  ["UTF-8 without a word about it", bytes("näïve 漢"), undefined, "näïve 漢"],
  ["UTF-8 with a mark", bytes([0xef, 0xbb, 0xbf], "ä"), "text/html; charset=iso-8859-1", "ä"],
  ["UTF-16, little end first", bytes([0xff, 0xfe, 0x61, 0x00, 0xe4, 0x00]), undefined, "aä"],
  ["UTF-16, big end first", bytes([0xfe, 0xff, 0x00, 0x61, 0x00, 0xe4]), "text/html; charset=utf-8", "aä"],
  ["the header's charset", bytes([0xe4]), "text/html; charset=ISO-8859-1", "ä"],
  ["the header's charset in quotes", bytes([0xf0, 0xf2]), 'text/html; Charset="koi8-r"', "ПР"],
  ["Windows-1252 called ISO-8859-1", bytes([0x93, 0x94, 0x80]), "text/html; charset=iso-8859-1", "“”€"],
  ["a meta charset", bytes('<meta charset="windows-1251">', [0xcf, 0xf0]), undefined, '<meta charset="windows-1251">Пр'],
  ["a meta http-equiv", bytes('<META http-equiv=Content-Type content="text/html; charset=Shift_JIS">', [0x83, 0x65]), undefined, expect.stringContaining("テ")],
  ["an XML declaration", bytes('<?xml version="1.0" encoding="ISO-8859-2"?>', [0xb3]), undefined, expect.stringContaining("ł")],
  ["the header before the meta", bytes('<meta charset="koi8-r">', [0xe4]), "text/html; charset=latin1", expect.stringContaining("ä")],
  ["GBK", bytes([0xba, 0xba]), "text/html; charset=gbk", "汉"],
  ["EUC-KR", bytes([0xc7, 0xd1]), "text/html; charset=euc-kr", "한"],
  ["no word and not UTF-8", bytes([0x63, 0x61, 0x66, 0xe9]), undefined, "café"],
  [
    "a header that is wrong about UTF-8, and a meta that is right",
    bytes('<meta charset="windows-1251">', [0xcf]),
    "text/html; charset=utf-8",
    expect.stringContaining("П"),
  ],
  ["UTF-8 with a broken byte", bytes("ä", [0xff], "b"), "text/html; charset=utf-8", "ä\ufffdb"],
  ["an unknown charset", bytes("ä"), "text/html; charset=klingon", "ä"],
  ["a charset that hides text", bytes("+ADw-script+AD4-"), "text/html; charset=utf-7", "+ADw-script+AD4-"],
  ["a meta that says UTF-16", bytes('<meta charset="utf-16">ä'), undefined, '<meta charset="utf-16">ä'],
  ["nothing", bytes(), undefined, ""],
])("decodes %s", (_, body, contentType, text) => {
  expect(decodeText(body, contentType)).toEqual(text);
});
