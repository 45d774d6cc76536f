import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import type { GmailPart } from "@rockbot/testing";
import { expect, test } from "vitest";
import { ALICE, BOB, base64url, message, part, startTestGoogle } from "./test-google.ts";

test("gmail_search finds by Gmail's syntax, page by page, and says who wrote what", async () => {
  await using system = await startTestGoogle();
  const mails = system.google.accounts[ALICE]?.messages;
  for (const id of ["a1", "a2", "a3"]) mails?.push(message(id, part("text/plain", "text")));

  const first = await system.call("gmail_search", { query: "from:carol in:inbox", max_results: 2 });
  expect(first).toMatchObject({
    structured: {
      account: ALICE,
      messages: [
        {
          id: "a1",
          thread_id: "a10",
          from: "Carol <carol@example.org>",
          to: ALICE,
          snippet: "Snippet of a1 & more",
          date: "2025-08-01T00:00:00.000Z",
        },
        { id: "a2" },
      ],
      next_page_token: "2",
    },
    trust: { level: "untrusted", origin: `Gmail: ${ALICE}` },
  });
  const second = await system.call("gmail_search", { query: "from:carol in:inbox", max_results: 2, page_token: "2" });
  expect(second.structured).toEqual({ account: ALICE, messages: [expect.objectContaining({ id: "a3" })] });
  expect((await system.call("gmail_search", { query: "from:nobody" })).content).toContain("No mail");
});

test("gmail_read prefers the HTML of alternatives, converts it, and lists attachments", async () => {
  await using system = await startTestGoogle();
  const html = '<h1>Hello</h1><p>See <a href="https://example.com/x">this</a></p>';
  const payload = part("multipart/mixed", [
    part("multipart/alternative", [
      part("text/plain", "plain words"),
      part("multipart/related", [
        part("text/html; charset=utf-8", html),
        part("image/png", "x", { "Content-Disposition": 'inline; filename="a.png"' }),
      ]),
    ]),
    part("application/pdf", "1234", { "Content-Disposition": 'attachment; filename="bill.pdf"' }),
    part("text/plain", "a list", { "content-disposition": "ATTACHMENT" }),
  ]);
  system.google.accounts[ALICE]?.messages.push(message("a1", payload, { cC: "dan@example.org" }));

  const read = await system.call("gmail_read", { message_id: "a1" });
  expect(read).toMatchObject({
    structured: {
      format: "markdown",
      cc: "dan@example.org",
      attachments: [
        { name: "a.png", type: "image/png", bytes: 1 },
        { name: "bill.pdf", type: "application/pdf", bytes: 4 },
        { name: "", type: "text/plain", bytes: 6 },
      ],
    },
    trust: { level: "untrusted" },
  });
  expect(read.content).toContain("# Hello");
  expect(read.content).toContain("[this](https://example.com/x)");
  expect(read.content).not.toContain("plain words");
  const raw = await system.call("gmail_read", { message_id: "a1", raw_html: true });
  expect(raw).toMatchObject({ structured: { format: "html" }, content: expect.stringContaining(html) });
});

test("gmail_read finds the text ten parts deep, and none in a mail that has none", async () => {
  await using system = await startTestGoogle();
  const mails = system.google.accounts[ALICE]?.messages;
  let nested: GmailPart = part("multipart/alternative", [
    part("text/plain", "deep plain"),
    part("text/html", "<p>deep html</p>"),
  ]);
  for (let depth = 0; depth < 10; depth++)
    nested = part(depth % 2 === 0 ? "multipart/mixed" : "multipart/alternative", [
      part("text/plain", depth % 2 === 0 ? `level ${depth}` : "worse"),
      nested,
    ]);
  mails?.push(message("a1", nested), message("a2", part("multipart/mixed", [])));

  const { content } = await system.call("gmail_read", { message_id: "a1" });
  for (const words of ["deep html", "level 0", "level 8"]) expect(content).toContain(words);
  for (const words of ["deep plain", "worse"]) expect(content).not.toContain(words);
  expect(await system.call("gmail_read", { message_id: "a2" })).toMatchObject({
    structured: { format: "none" },
    content: expect.stringContaining("no text"),
  });
});

test.each([false, true])(
  "gmail_read reads the plain text where the HTML says nothing, and a text that is shown in its place, with raw_html %s",
  async (raw_html) => {
    await using system = await startTestGoogle();
    const empty = "<html><head><title>T</title><style>p{}</style></head><body>&nbsp;<p> </p></body></html>";
    const payload = part("multipart/mixed", [
      part("multipart/alternative", [
        part("text/plain", "plain words"),
        part("multipart/related", [part("text/html", empty)]),
        part("text/calendar", "BEGIN"),
      ]),
      {
        ...part("text/plain", "a note in its place", { "Content-Disposition": "inline; filename=note.txt" }),
        filename: "note.txt",
      },
      {
        ...part("text/csv", "a file of its own", { "Content-Disposition": "attachment; filename=a.csv" }),
        filename: "a.csv",
      },
    ]);
    system.google.accounts[ALICE]?.messages.push(message("a1", payload), message("a2", part("text/html", empty)));
    const { content, structured } = await system.call("gmail_read", { message_id: "a1", raw_html });
    expect(content).toContain("plain words\n\na note in its place\n");
    expect(content).not.toMatch(/<html|BEGIN|of its own/);
    expect(structured).toMatchObject({ format: "text", attachments: [{ name: "note.txt" }, { name: "a.csv" }] });
    expect((await system.call("gmail_read", { message_id: "a2", raw_html })).content).toContain(
      "(The mail has no text.)",
    );
  },
);

test.each([
  ["text/plain; charset=iso-8859-1", Buffer.from("Grüße", "latin1"), "Grüße"],
  ["text/plain; charset=no-such-charset", Buffer.from("Grüße"), "Grüße"],
  ["text/plain; charset=utf-8", Buffer.from("Preis: 5 \xa3 f\xfcr alle", "latin1"), "Preis: 5"],
  ["text/plain; charset=shift_jis", Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "日本"],
])("gmail_read decodes a body of %s", async (type, body, words) => {
  await using system = await startTestGoogle();
  system.google.accounts[ALICE]?.messages.push(message("a1", part(type, body)));
  expect((await system.call("gmail_read", { message_id: "a1" })).content).toContain(words);
});

test("a mail with 25 MB of attachments is read without them, and one with 25 MB of text is refused in words", async () => {
  await using system = await startTestGoogle();
  const bytes = 25_000_000;
  const big = (type: string, filename: string): GmailPart => ({
    mimeType: type,
    filename,
    headers: [],
    body: { size: bytes, attachmentId: "big" },
  });
  const attachments = { big: base64url(Buffer.alloc(1_000, "x")) };
  const text = { ...part("text/plain", ""), body: { size: bytes, data: base64url(Buffer.alloc(bytes, "x")) } };
  system.google.accounts[ALICE]?.messages.push(
    {
      ...message("a1", part("multipart/mixed", [part("text/plain", "small"), big("video/mp4", "film.mp4")])),
      attachments,
    },
    message("a2", text),
    { ...message("a3", { ...big("text/plain", ""), body: { size: 1_000, attachmentId: "big" } }), attachments },
  );
  expect(await system.call("gmail_read", { message_id: "a1" })).toMatchObject({
    content: expect.stringContaining("small"),
    structured: { attachments: [{ name: "film.mp4", bytes }] },
  });
  expect(system.google.requests.some((request) => request.includes("attachments"))).toBe(false);
  await expect(system.call("gmail_read", { message_id: "a2" })).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("25000000"),
  });
  expect((await system.call("gmail_read", { message_id: "a3" })).content).toContain("x".repeat(1_000));
});

test("gmail_send sends plain text in any language, and answers in the thread of a mail", async () => {
  await using system = await startTestGoogle();
  const account = system.google.accounts[ALICE];
  account?.messages.push(
    message("a1", part("text/plain", "question"), {
      "Reply-To": '"Desk, Help" <desk@example.org>',
      References: "<first@example.org>",
    }),
  );

  expect(
    await system.call("gmail_send", {
      to: ["bob@example.com"],
      bcc: ["eve@example.com"],
      subject: "Grüße 日本",
      body: "Zeile 1\nZeile ß",
    }),
  ).toMatchObject({
    structured: { account: ALICE, id: expect.any(String) },
  });
  expect(account?.sent[0]?.raw).toMatch(
    /^From: alice@example\.com\r\nTo: bob@example\.com\r\nBcc: eve@example\.com\r\nSubject: =\?UTF-8\?/m,
  );
  expect(account?.sent[0]?.raw).toContain("Zeile =C3=9F");
  await system.call("gmail_send", { body: "answer", reply_to_message_id: "a1" });
  expect(account?.sent[1]).toMatchObject({ threadId: "a10", raw: expect.stringContaining("To: desk@example.org\r\n") });
  expect(account?.sent[1]?.raw).toMatch(
    /In-Reply-To: <a1@example\.org>\r\nReferences: <first@example\.org>\s+<a1@example\.org>\r\n/,
  );
  expect(account?.sent[1]?.raw).toContain("Subject: Re: Subject of a1\r\n");
});

test("no value of gmail_send leaves its header", async () => {
  await using system = await startTestGoogle();
  const account = system.google.accounts[ALICE];
  const send = (input: object) =>
    system.call("gmail_send", { to: ["bob@example.com"], subject: "x", body: "text", ...input });
  await expect(send({ subject: "x\r\nBcc: eve@example.com" })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("one line"),
  });
  for (const to of ["a@b.c\r\nBcc: eve@example.com", "Bob <bob@example.com>, eve@example.com", "a@b,c@d", ""]) {
    await expect(send({ to: [to] })).rejects.toMatchObject({ code: "invalid_arguments" });
  }
  const hostile = message("a1", part("text/plain", "x"), {
    "Message-Id": "<a@b>\r\nBcc: eve@example.com",
    Subject: "s\r\nBcc: eve@example.com",
  });
  account?.messages.push(hostile);
  await system.call("gmail_send", { body: "text\r\n.\r\nBcc: eve@example.com", reply_to_message_id: "a1" });
  expect(account?.sent).toHaveLength(1);
  expect(account?.sent[0]?.raw.split("\r\n\r\n")[0]).not.toMatch(/^bcc:/im);
  await expect(system.call("gmail_send", { body: "x" })).rejects.toMatchObject({
    message: expect.stringMatching(/to is needed.*subject is needed/),
  });
});

test("callers have the accounts that the policy names, and a caller without one has none", async () => {
  const text = `
callers:
  alice-bot: { allow: ["gmail_*"], credentials: { google: Alice@example.com } }
  bob-bot: { allow: ["gmail_*"], credentials: { google: bob@example.com } }
  other-bot: { allow: ["gmail_*"] }
everyone: {}
`;
  await using system = await startTestGoogle({
    accounts: [ALICE, BOB],
    policy: holdPolicy(createPolicy(await readPolicy(text, "test"))),
  });
  system.google.accounts[ALICE]?.messages.push(message("a1", part("text/plain", "of alice")));
  system.google.accounts[BOB]?.messages.push(message("b1", part("text/plain", "of bob")));

  const seen = await Promise.all(
    ["alice-bot", "bob-bot"].map(
      async (caller) => (await system.callAs(caller, "gmail_search", { query: "" })).structured,
    ),
  );
  expect(seen).toMatchObject([
    { account: ALICE, messages: [{ id: "a1" }] },
    { account: BOB, messages: [{ id: "b1" }] },
  ]);
  expect(seen.map((answer) => (answer as { messages: unknown[] }).messages.length)).toEqual([1, 1]);
  await expect(system.callAs("alice-bot", "gmail_read", { message_id: "b1" })).rejects.toMatchObject({
    code: "invalid_arguments",
  });
  await expect(system.callAs("other-bot", "gmail_search", { query: "" })).rejects.toMatchObject({
    code: "denied",
    message: expect.stringContaining("google"),
  });
});

test("gmail_read keeps attachments as untrusted files of its caller, under names that a file may have", async () => {
  await using system = await startTestGoogle();
  const attached = (name: string, body: string) => ({
    ...part("application/octet-stream", body, { "Content-Disposition": "attachment" }),
    filename: name,
  });
  const later = { ...attached("later.bin", ""), body: { size: 5, attachmentId: "later" } };
  const payload = part("multipart/mixed", [
    part("text/plain", "see the files"),
    attached("../../etc/passwd", "tricks"),
    attached("", "no name"),
    attached("a.svg", "<svg onload='x'/>"),
    later,
  ]);
  system.google.accounts[ALICE]?.messages.push({
    ...message("a1", payload),
    attachments: { later: base64url("later") },
  });
  expect((await system.call("gmail_read", { message_id: "a1" })).structured).not.toHaveProperty("files");
  const read = await system.call("gmail_read", { message_id: "a1", keep_attachments: true });
  const { files } = read.structured as { files: { handle: string; name: string; isUntrusted: boolean }[] };
  expect(files).toMatchObject([
    { name: ".._.._etc_passwd", size: 6, isUntrusted: true },
    { name: "attachment-2", size: 7, isUntrusted: true },
    { name: "a.svg", type: "application/octet-stream", isUntrusted: true },
    { name: "later.bin", size: 5, isUntrusted: true },
  ]);
  expect((await system.files.list("tester")).map(({ handle }) => handle).sort()).toEqual(
    files.map(({ handle }) => handle).sort(),
  );
});

test("gmail_send sends files of its caller, and of nobody else", async () => {
  await using system = await startTestGoogle();
  const put = (owner: string) =>
    system.files.put(owner, { name: 'Übersicht "1".csv', isUntrusted: false, bytes: [Buffer.from("a,b\n")] });
  const [own, others] = [await put("tester"), await put("another")];
  const mail = { to: [BOB], subject: "Files", body: "Here they are" };
  await system.call("gmail_send", { ...mail, attachments: [own.handle] });
  const sent = String(system.google.accounts[ALICE]?.sent.at(-1)?.raw ?? "");
  expect(sent).toMatch(/Content-Type: text\/csv/);
  expect(sent).toContain(Buffer.from("a,b\n").toString("base64"));
  await expect(system.call("gmail_send", { ...mail, attachments: [others.handle] })).rejects.toMatchObject({
    details: { reason: "no_such_file" },
  });
  const large = await system.files.put("tester", {
    name: "large",
    isUntrusted: false,
    bytes: [Buffer.alloc(19_000_000)],
  });
  await expect(system.call("gmail_send", { ...mail, attachments: [large.handle] })).rejects.toMatchObject({
    code: "too_large",
  });
});
