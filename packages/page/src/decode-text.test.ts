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
  [
    "a meta charset",
    bytes('<meta charset="windows-1251">', [0xcf, 0xf0]),
    undefined,
    '<meta charset="windows-1251">Пр',
  ],
  [
    "a meta http-equiv",
    bytes('<META http-equiv=Content-Type content="text/html; charset=Shift_JIS">', [0x83, 0x65]),
    undefined,
    expect.stringContaining("テ"),
  ],
  [
    "an XML declaration",
    bytes('<?xml version="1.0" encoding="ISO-8859-2"?>', [0xb3]),
    undefined,
    expect.stringContaining("ł"),
  ],
  [
    "the header before the meta",
    bytes('<meta charset="koi8-r">', [0xe4]),
    "text/html; charset=latin1",
    expect.stringContaining("ä"),
  ],
  [
    "a meta behind one in a comment",
    bytes('<!-- <meta charset="big5"> --><meta charset="koi8-r">', [0xf0]),
    undefined,
    expect.stringContaining("П"),
  ],
  [
    "a meta behind one that is about something else",
    bytes('<meta name=a content="charset=big5"><meta charset=koi8-r>', [0xf0]),
    undefined,
    expect.stringContaining("П"),
  ],
  [
    "a meta behind one in an attribute",
    bytes(`<html title='<meta charset="big5">'><meta charset="koi8-r">`, [0xf0]),
    undefined,
    expect.stringContaining("П"),
  ],
  [
    "a late meta",
    bytes(`<style>${" ".repeat(2_000)}</style><meta charset="koi8-r">`, [0xf0]),
    undefined,
    expect.stringContaining("П"),
  ],
  [
    "JSON, which is UTF-8 whatever its charset",
    bytes('{"a":"ü"}'),
    "application/problem+json; charset=iso-8859-1",
    '{"a":"ü"}',
  ],
  ["JSON that is not UTF-8 by its charset", bytes([0x22, 0xfc, 0x22]), "application/json; charset=iso-8859-1", '"ü"'],
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
  [
    "another encoding that is called UTF-8",
    Buffer.from("Grüße aus München, schön", "latin1"),
    "text/html; charset=utf-8",
    "Grüße aus München, schön",
  ],
  ["an unknown charset", bytes("ä"), "text/html; charset=klingon", "ä"],
  ["a charset that hides text", bytes("+ADw-script+AD4-"), "text/html; charset=utf-7", "+ADw-script+AD4-"],
  ["a meta that says UTF-16", bytes('<meta charset="utf-16">ä'), undefined, '<meta charset="utf-16">ä'],
  ["nothing", bytes(), undefined, ""],
  [
    "UTF-16 without a mark",
    Buffer.from("<p>plain text and 漢</p>", "utf16le"),
    "text/html",
    "<p>plain text and 漢</p>",
  ],
  [
    "UTF-16 without a mark, big end first",
    Buffer.from("<p>plain text and 漢</p>", "utf16le").swap16(),
    "text/html",
    "<p>plain text and 漢</p>",
  ],
  [
    "UTF-16 without a mark, of a language without ASCII",
    Buffer.from(`<p>${"港口很安静一".repeat(300)}`, "utf16le"),
    undefined,
    `<p>${"港口很安静一".repeat(300)}`,
  ],
])("decodes %s", (_, body, contentType, text) => {
  expect(decodeText(body, contentType)).toEqual(text);
});

test.each([
  [
    "Shift_JIS",
    "PGh0bWw+PGhlYWQ+PHRpdGxlPpP6lnuM6oLMg3mBW4NXPC90aXRsZT48L2hlYWQ+PGJvZHk+PHA+grGC6oLNk/qWe4zqgsyVto/NgsWCt4FCk4yLnoLNk/qWe4LMjvGTc4LFgqCC6IFBkKKKRYLFguCXTJCUgsyR5ZNzjnOCxYK3gUKDaoOFgVuDWILwgqiTzYKvgrWC3IK3gUI8L3A+PC9ib2R5PjwvaHRtbD4=",
    "<html><head><title>日本語のページ</title></head><body><p>これは日本語の文章です。東京は日本の首都であり、世界でも有数の大都市です。ニュースをお届けします。</p></body></html>",
  ],
  [
    "EUC-JP",
    "PGh0bWw+PGhlYWQ+PHRpdGxlPsb8y9y47KTOpdqhvKW4PC90aXRsZT48L2hlYWQ+PGJvZHk+PHA+pLOk7KTPxvzL3LjspM7KuL7PpMekuaGjxey1/qTPxvzL3KTOvPPF1KTHpKKk6qGiwKSzpqTHpOLNrb/0pM7C58XUu9Skx6S5oaOly6XlobyluaTypKrGz6SxpLek3qS5oaM8L3A+PC9ib2R5PjwvaHRtbD4=",
    "<html><head><title>日本語のページ</title></head><body><p>これは日本語の文章です。東京は日本の首都であり、世界でも有数の大都市です。ニュースをお届けします。</p></body></html>",
  ],
  [
    "ISO-2022-JP",
    "PGh0bWw+PGhlYWQ+PHRpdGxlPhskQkZ8S1w4bCROJVohPCU4GyhCPC90aXRsZT48L2hlYWQ+PGJvZHk+PHA+GyRCJDMkbCRPRnxLXDhsJE5KOD5PJEckOSEjRWw1fiRPRnxLXCROPHNFVCRHJCIkaiEiQCQzJiRHJGJNLT90JE5CZ0VUO1QkRyQ5ISMlSyVlITwlOSRyJCpGTyQxJDckXiQ5ISMbKEI8L3A+PC9ib2R5PjwvaHRtbD4=",
    "<html><head><title>日本語のページ</title></head><body><p>これは日本語の文章です。東京は日本の首都であり、世界でも有数の大都市です。ニュースをお届けします。</p></body></html>",
  ],
  [
    "Shift_JIS",
    "PHA+g2WDWINnIIN5gVuDVyCDSoNeg0qDaYK+gq+CzINlg0yDWINnPC9wPg==",
    "<p>テスト ページ カタカナだけのテキスト</p>",
  ],
  [
    "windows-1251",
    "PGh0bWw+PGJvZHk+PGgxPs3u4u7x8ug8L2gxPjxwPt3y7iDu4fv37eD/IPHy8ODt6PbgIO3gIPDz8fHq7uwg/+f76uUsIOIg6u7y7vDu6SDt6Pfl4+4g7eUg8erg5+Dt7iDuIOru5Ojw7uLq5S48L3A+PC9ib2R5PjwvaHRtbD4=",
    "<html><body><h1>Новости</h1><p>Это обычная страница на русском языке, в которой ничего не сказано о кодировке.</p></body></html>",
  ],
  [
    "GBK",
    "PGh0bWw+PGJvZHk+PHA+1eLKx9K7uPbN+NKzo6zDu9PQy7XD98v8tcSx4MLroaO98czstcTQws7FsPzAqMzsxvi6zb27zajH6b/2oaM8L3A+PC9ib2R5PjwvaHRtbD4=",
    "<html><body><p>这是一个网页，没有说明它的编码。今天的新闻包括天气和交通情况。</p></body></html>",
  ],
  [
    "EUC-KR",
    "PGh0bWw+PGJvZHk+PHA+wMywzcC6IMfRsbm+7rfOIL6yv6nB+CDApSDG5MDMwfbA1LTPtNkuIMDOxNq1+b+hILTrx9EgvLO47cDMIL74vcC0z7TZLiC/wLTDwMcgtLq9urimIMD8x9ggteW4s7TPtNkuPC9wPjwvYm9keT48L2h0bWw+",
    "<html><body><p>이것은 한국어로 쓰여진 웹 페이지입니다. 인코딩에 대한 설명이 없습니다. 오늘의 뉴스를 전해 드립니다.</p></body></html>",
  ],
  [
    "Windows-1252",
    "PGh0bWw+PGJvZHk+PHA+Vm9pbOAgdW5lIHBhZ2UgZnJhbudhaXNlIG/5IGySZW5jb2RhZ2UgbpJlc3QgcGFzIGTpY2xhcuk7IOl06Swg6WzodmUsIGdhcudvbi48L3A+PC9ib2R5PjwvaHRtbD4=",
    "<html><body><p>Voilà une page française où l’encodage n’est pas déclaré; été, élève, garçon.</p></body></html>",
  ],
  [
    "Windows-1252",
    "PHA+3GJlciBncvbfZXJlIEjkdXNlciBs5N90IHNpY2ggc2No9m4gc3RyZWl0ZW4uPC9wPg==",
    "<p>Über größere Häuser läßt sich schön streiten.</p>",
  ],
])("tells %s by its bytes, where nobody says it", (_, base64, text) => {
  expect(decodeText(Buffer.from(base64, "base64"), "text/html")).toBe(text);
});

test("believes the page's language where the bytes leave the encoding open", () => {
  const turkish = Buffer.concat([
    Buffer.from("<html lang=tr><p>"),
    Buffer.from([
      0xde, 0x75, 0x20, 0x61, 0x6e, 0x64, 0x61, 0x20, 0xfd, 0x73, 0xfd, 0x20, 0xe7, 0x6f, 0x6b, 0x20, 0xf0, 0xfe, 0xfd,
    ]),
  ]);
  expect(decodeText(turkish, undefined)).toBe("<html lang=tr><p>Şu anda ısı çok ğşı");
});

test("says that it does not know rather than to invent a text", () => {
  const noEncoding = Buffer.from("ab \x81 cd \x98 ef ".repeat(40), "latin1"); // each lacks one of the two, or wants a second byte
  expect(decodeText(noEncoding, "text/html")).toBeUndefined();
});
