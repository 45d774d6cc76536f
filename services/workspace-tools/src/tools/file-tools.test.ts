import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { zip } from "@rockbot/testing";
import { expect, test } from "vitest";
import { OWNER, openPolicyText, startTestWorkspace } from "../test-workspace.ts";

test("read_file gives the lines of a text in any charset, from and up to where it is asked", async () => {
  await using workspace = await startTestWorkspace();
  writeFileSync(
    join(workspace.folder("work"), "long.txt"),
    Array.from({ length: 5_000 }, (_, i) => `line ${i + 1}`).join("\r\n"),
  );
  writeFileSync(join(workspace.folder("work"), "latin.txt"), Buffer.from("Stra\xdfe f\xfcr Caf\xe9\n", "latin1"));
  writeFileSync(join(workspace.folder("work"), "wide.txt"), Buffer.from("\ufeffgrüße", "utf16le"));

  const part = await workspace.call("read_file", { path: "work/long.txt", offset: 4_998, limit: 2 });
  expect(part.content).toBe(
    "line 4998\nline 4999\n\n(work/long.txt: lines 4998 to 4999 of 5000. Go on with offset 5000.)",
  );
  expect(part.structured).toMatchObject({ kind: "text", first_line: 4_998, last_line: 4_999, lines: 5_000 });
  expect(part.trust).toEqual({ level: "untrusted", origin: "workspace:work/long.txt" });
  expect((await workspace.call("read_file", { path: "long.txt" })).structured).toMatchObject({
    first_line: 1,
    last_line: 2_000,
  });
  expect((await workspace.call("read_file", { path: "work/latin.txt" })).content).toBe("Straße für Café");
  expect((await workspace.call("read_file", { path: "work/wide.txt" })).content).toBe("grüße");
});

test("read_file gives a .docx document as markdown with its headings, lists and tables", async () => {
  await using workspace = await startTestWorkspace();
  writeFileSync(join(workspace.folder("work"), "report.docx"), docx());

  const { content, structured } = await workspace.call("read_file", { path: "report.docx" });

  expect(structured).toMatchObject({ kind: "docx" });
  expect(content).toContain("# The year");
  expect(content).toMatch(/^- first$/m);
  expect(content).toMatch(/^\| name \| sum \|$/m);
  expect(content).toMatch(/^\| tea \| 3 \|$/m);
});

test("read_file gives the text of a PDF document page by page, and an image by its type and size", async () => {
  await using workspace = await startTestWorkspace();
  writeFileSync(join(workspace.folder("work"), "paper.pdf"), pdf("Hello paper"));
  writeFileSync(join(workspace.folder("work"), "dot.png"), PNG);

  const paper = await workspace.call("read_file", { path: "paper.pdf" });
  expect(paper.content).toBe("--- page 1 of 1 ---\n\nHello paper");
  const dot = await workspace.call("read_file", { path: "dot.png" });
  expect(dot.structured).toMatchObject({ kind: "image", media_type: "image/png", width: 1, height: 1 });
});

test("read_file says what it cannot read", async () => {
  await using workspace = await startTestWorkspace({ env: { MAX_FILE_BYTES: "1000" } });
  writeFileSync(join(workspace.folder("work"), "big.txt"), "x".repeat(1_001));
  writeFileSync(join(workspace.folder("work"), "program"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
  writeFileSync(join(workspace.folder("work"), "broken.docx"), Buffer.from("PK\x03\x04 and no more"));

  await expect(workspace.call("read_file", { path: "big.txt" })).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("1001 bytes"),
  });
  await expect(workspace.call("read_file", { path: "program" })).rejects.toThrow("it is a program");
  await expect(workspace.call("read_file", { path: "broken.docx" })).rejects.toThrow("it is damaged");
  await expect(workspace.call("read_file", { path: "none.txt" })).rejects.toThrow("there is nothing of that name");
  await expect(workspace.call("read_file", { path: "work" })).rejects.toThrow("it is a root");
});

test("write_file makes folders and files that belong to the root's owner, and says what has changed", async () => {
  await using workspace = await startTestWorkspace();
  const file = join(workspace.folder("work"), "a", "b", "plan.md");

  const made = await workspace.call("write_file", { path: "work/a/b/plan.md", content: "one\ntwo\nthree\n" });
  expect(made.content).toBe("Made work/a/b/plan.md: 3 lines, 14 bytes.");
  expect(made.trust).toBeUndefined();
  chmodSync(file, 0o750);
  const changed = await workspace.call("write_file", { path: "work/a/b/plan.md", content: "one\n2\nthree\n" });

  expect(changed.content).toContain(
    "Wrote work/a/b/plan.md: 1 lines added, 1 removed.\n\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three",
  );
  expect(changed.structured).toEqual({ path: "work/a/b/plan.md", created: false, added: 1, removed: 1, bytes: 12 });
  expect(readFileSync(file, "utf8")).toBe("one\n2\nthree\n");
  expect(statSync(file).mode & 0o777).toBe(0o750);
  const owner = process.getuid?.() === 0 ? OWNER : process.getuid?.();
  expect([statSync(file).uid, statSync(join(file, "..")).uid]).toEqual([owner, owner]);
  expect(readdirSync(join(file, ".."))).toEqual(["plan.md"]);
  expect((await workspace.call("write_file", { path: "work/a/b/plan.md", content: "" })).content).toContain(
    "\n\n@@ -1,3 +0,0 @@\n-one",
  );
});

test("edit_file replaces a text that is there once, and refuses any other", async () => {
  await using workspace = await startTestWorkspace();
  const file = join(workspace.folder("work"), "a.txt");
  writeFileSync(file, "red green red\r\nblue\n");
  const edit = (old_text: string, new_text: string, rest = {}) =>
    workspace.call("edit_file", { path: "a.txt", old_text, new_text, ...rest });

  await expect(edit("red", "pink")).rejects.toThrow("the old text is in it 2 times");
  await expect(edit("white", "pink")).rejects.toThrow("the old text is not in it");
  await expect(edit("red\nblue", "pink")).rejects.toThrow("its lines end in CR LF");
  await expect(edit("red  green", "pink")).rejects.toThrow("other white space");
  await expect(workspace.call("write_file", { path: "a.txt/b", content: "x" })).rejects.toThrow(
    "it leads through a file, where nothing lies",
  );
  await expect(workspace.call("edit_file", { path: "b.txt", old_text: "a", new_text: "b" })).rejects.toThrow(
    "there is no such file",
  );
  expect(readFileSync(file, "utf8")).toBe("red green red\r\nblue\n");
  expect((await edit("green", "$& and white")).structured).toMatchObject({ added: 1, removed: 1 });
  await edit("red", "pink", { replace_all: true });

  expect(readFileSync(file, "utf8")).toBe("pink $& and white pink\r\nblue\n");
});

test("edit_file keeps CR LF in a file whose lines all end so, whichever ends it is given", async () => {
  await using workspace = await startTestWorkspace();
  const file = join(workspace.folder("work"), "a.txt");
  const edit = async (old_text: string, new_text: string) => {
    await workspace.call("edit_file", { path: "a.txt", old_text, new_text });
    return readFileSync(file, "utf8");
  };

  writeFileSync(file, "red\r\ngreen\r\nblue\r\n");
  expect(await edit("red\ngreen", "one\ntwo\nthree")).toBe("one\r\ntwo\r\nthree\r\nblue\r\n");
  expect(await edit("blue", "four\nfive")).toBe("one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n");
  expect(await edit("one\r\ntwo\n", "")).toBe("three\r\nfour\r\nfive\r\n");
});

test("edit_file refuses a text whose places run into each other, and no tool writes half of a character", async () => {
  await using workspace = await startTestWorkspace();
  const file = join(workspace.folder("work"), "a.txt");
  writeFileSync(file, "x\nx\nx\n😀\n");
  const edit = (old_text: string, new_text: string) =>
    workspace.call("edit_file", { path: "a.txt", old_text, new_text });

  await expect(edit("x\nx\n", "y\n")).rejects.toThrow("the old text is in it 2 times");
  await expect(edit("\ud83d", "y")).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("old_text has half of a character"),
  });
  await expect(edit("😀", "\ude00")).rejects.toThrow("new_text has half of a character");
  await expect(workspace.call("write_file", { path: "a.txt", content: "\ud83d" })).rejects.toMatchObject({
    code: "invalid_arguments",
  });
  expect(readFileSync(file, "utf8")).toBe("x\nx\nx\n😀\n");
});

test("files are read under paths that are longer than an origin may be", async () => {
  await using workspace = await startTestWorkspace();
  const deep = `work/${Array.from({ length: 20 }, () => "ü".repeat(120)).join("/")}/a.txt`;
  await workspace.call("write_file", { path: deep, content: "text\n" });

  const read = await workspace.call("read_file", { path: deep });

  expect([read.content, read.trust?.origin.length]).toEqual(["text", 2_048]);
});

test("who reads a file while it is written or edited has all of the old text, and nobody half of the new one", async () => {
  await using workspace = await startTestWorkspace();
  const file = join(workspace.folder("work"), "a.txt");
  writeFileSync(file, "old");
  for (const [old, write] of [
    ["old", () => workspace.call("write_file", { path: "a.txt", content: "new" })],
    ["new", () => workspace.call("edit_file", { path: "a.txt", old_text: "new", new_text: "newer" })],
  ] as const) {
    const reader = openSync(file, "r");
    await write();
    expect(readFileSync(reader, "utf8")).toBe(old);
    closeSync(reader);
  }
  expect([readFileSync(file, "utf8"), readdirSync(workspace.folder("work"))]).toEqual(["newer", ["a.txt"]]);
});

test("a file with very many lines is made like any other, and no name of a file looks like several", async () => {
  await using workspace = await startTestWorkspace();

  const made = await workspace.call("write_file", { path: "many.txt", content: "x\n".repeat(50_000) });
  expect(made.content).toBe("Made work/many.txt: 100000 bytes.");
  await workspace.call("write_file", { path: "work/a\nwork/b.txt  5 bytes", content: "x" });
  expect((await workspace.call("list_files", { path: "work/a\nwork" })).content).toBe(
    "work/a\\nwork/b.txt  5 bytes  1 bytes",
  );
});

test("edits of one file at the same time are all in it in the end", async () => {
  await using workspace = await startTestWorkspace();
  const file = join(workspace.folder("work"), "a.txt");
  const names = Array.from({ length: 20 }, (_, i) => `<${i}>`);
  writeFileSync(file, names.join("\n"));

  await Promise.all(
    names.map((name) => workspace.call("edit_file", { path: "a.txt", old_text: name, new_text: `done ${name}` })),
  );

  expect(readFileSync(file, "utf8").split("\n")).toEqual(names.map((name) => `done ${name}`));
});

test("list_files names the roots, and what lies in a folder and below it", async () => {
  await using workspace = await startTestWorkspace({ roots: { docs: {}, work: { writable: true } } });
  mkdirSync(join(workspace.folder("work"), "a", "b"), { recursive: true });
  writeFileSync(join(workspace.folder("work"), "a", "b", "c.txt"), "1234");
  symlinkSync("/etc/passwd", join(workspace.folder("work"), "link"));

  expect((await workspace.call("list_files", {})).content).toBe("docs/  (for reading only)\nwork/");
  expect((await workspace.call("list_files", { path: "work", depth: 3 })).content).toBe(
    "work/a/\nwork/a/b/\nwork/a/b/c.txt  4 bytes\nwork/link  (a symlink, which is not followed)",
  );
  expect((await workspace.call("list_files", { path: "work/a" })).structured).toEqual({
    entries: [{ path: "work/a/b", type: "folder", bytes: null }],
    is_cut: false,
  });
  expect((await workspace.call("list_files", { path: "docs" })).content).toBe("(The folder is empty.)");
  await expect(workspace.call("list_files", { path: "else" })).rejects.toThrow(
    "it does not begin with one of your roots, which are: docs, work",
  );
});

test("nothing is written in a root that is for reading only", async () => {
  await using workspace = await startTestWorkspace({ roots: { docs: {}, work: { writable: true } } });

  await expect(workspace.call("write_file", { path: "docs/a.txt", content: "x" })).rejects.toMatchObject({
    code: "denied",
    details: { reason: "root" },
  });
  expect(readdirSync(workspace.folder("docs"))).toEqual([]);
});

test("without a writable root the tools that write are not offered, with the reason", async () => {
  await using workspace = await startTestWorkspace({ roots: { docs: {} } });

  expect(workspace.caller.tools.getTools().map(({ name }) => name)).not.toContain("write_file");
  expect(workspace.running.off).toContainEqual({
    tool: "write_file",
    reason: expect.stringContaining("WORKSPACE_ROOTS"),
  });
});

test("a caller sees the roots that the policy names for it, and its own folder of a root that is per caller", async () => {
  const policy = `${openPolicyText}callers:\n  one: { roots: [docs, own] }\n  two: { roots: [own] }\n  three: {}\n`;
  await using workspace = await startTestWorkspace({
    policy,
    roots: { docs: {}, own: { writable: true, perCaller: true } },
  });
  const [one, two, three] = await Promise.all(["one", "two", "three"].map(workspace.callerOf));
  writeFileSync(join(workspace.folder("docs"), "a.txt"), "for one");

  await one?.call("write_file", { path: "own/mine.txt", content: "of one" });
  expect((await one?.call("read_file", { path: "docs/a.txt" }))?.content).toBe("for one");
  await expect(two?.call("read_file", { path: "docs/a.txt" })).rejects.toThrow("there is nothing of that name"); // a folder docs of its only root
  expect((await two?.call("list_files", { path: "own" }))?.content).toBe("(The folder is empty.)");
  await expect(two?.call("read_file", { path: "own/mine.txt" })).rejects.toThrow("there is nothing of that name");
  await expect(three?.call("list_files", {})).rejects.toMatchObject({ code: "denied", details: { reason: "roots" } });
  const folders = readdirSync(workspace.folder("own"));
  expect(folders.map((name) => name.replace(/-[0-9a-f]{16}$/, "")).toSorted()).toEqual(["one", "two"]);
  expect(
    folders.map((name) => existsSync(join(workspace.folder("own"), name, "mine.txt"))).filter(Boolean),
  ).toHaveLength(1);
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A document with a heading, a list and a table. */
function docx(): Buffer {
  const paragraph = (text: string, style = "") => `<w:p><w:pPr>${style}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const row = (...cells: string[]) => `<w:tr>${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join("")}</w:tr>`;
  const list = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>';
  const body = [
    paragraph("The year", '<w:pStyle w:val="Heading1"/>'),
    paragraph("It was good."),
    paragraph("first", list),
    paragraph("second", list),
    `<w:tbl>${row("name", "sum")}${row("tea", "3")}</w:tbl>`,
  ].join("");
  const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const type = "application/vnd.openxmlformats-officedocument.wordprocessingml";
  const relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const packaged = "http://schemas.openxmlformats.org/package/2006";
  return zip({
    "[Content_Types].xml": `<Types xmlns="${packaged}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${type}.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="${type}.styles+xml"/><Override PartName="/word/numbering.xml" ContentType="${type}.numbering+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${relation}/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/_rels/document.xml.rels": `<Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${relation}/styles" Target="styles.xml"/><Relationship Id="r2" Type="${relation}/numbering" Target="numbering.xml"/></Relationships>`,
    "word/styles.xml": `<w:styles ${w}><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    "word/numbering.xml": `<w:numbering ${w}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
    "word/document.xml": `<w:document ${w}><w:body>${body}</w:body></w:document>`,
  });
}

/** A document of one page. */
function pdf(text: string): Buffer {
  const content = `BT /F1 24 Tf 72 720 Td (${text}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const offset = body.length;
    body += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  return Buffer.from(
    `${body}xref\n0 6\n0000000000 65535 f \n${table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`,
  );
}

test("a file of the workspace becomes a file of the caller, and the other way, byte by byte", async () => {
  await using workspace = await startTestWorkspace();
  const bytes = Buffer.from([0, 1, 2, 253, 254, 255]);
  writeFileSync(join(workspace.folder("work"), "data.bin"), bytes);
  const read = await workspace.call("read_file", { path: "work/data.bin", keep: true });
  const { files: [kept] = [] } = read.structured as { files?: { handle: string }[] };
  expect(kept).toMatchObject({ name: "data.bin", size: 6, isUntrusted: true });
  await workspace.call("write_file", { path: "work/new/copy.bin", file: kept?.handle });
  expect(readFileSync(join(workspace.folder("work"), "new/copy.bin"))).toEqual(bytes);
  const both = workspace.call("write_file", { path: "work/x", file: kept?.handle, content: "x" });
  await expect(both).rejects.toMatchObject({ code: "invalid_arguments" });
  await expect(workspace.call("write_file", { path: "work/x" })).rejects.toMatchObject({ code: "invalid_arguments" });
  const other = await workspace.callerOf("other");
  await expect(other.call("write_file", { path: "work/x", file: kept?.handle })).rejects.toMatchObject({
    details: { reason: "no_such_file" },
  });
});
