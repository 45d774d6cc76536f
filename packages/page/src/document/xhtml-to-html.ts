/** Elements that are never closed in HTML. @see https://html.spec.whatwg.org/multipage/syntax.html#void-elements */
const voids: ReadonlySet<string> = new Set([
  "area",
  "base",
  "br",
  "col",
  "embed",
  "hr",
  "img",
  "input",
  "link",
  "meta",
  "param",
  "source",
  "track",
  "wbr",
]);
/** A root element comes early, in characters. */
const MAX_PROLOG = 16_384;
const CDATA = "<![CDATA[";

/**
 * XHTML as HTML that means the same: `<script/>` is closed, else all that follows would be its content, and CDATA
 * sections are text. Takes time in proportion to the length.
 */
export function xhtmlToHtml(text: string): string {
  return withoutCdata(withoutPrefix(text)).replaceAll(
    /<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi,
    (tag, name: string, attributes: string) =>
      voids.has(name.toLowerCase()) ? tag : `<${name}${attributes}></${name}>`,
  );
}

/** Elements may have a prefix that the root gives to the namespace of XHTML, such as `<html:p>`. */
function withoutPrefix(text: string): string {
  const [, prefix, attributes] = /<([a-z][\w.-]{0,40}):html(\s[^<>]{1,4000})>/i.exec(text.slice(0, MAX_PROLOG)) ?? [];
  const name = prefix?.replaceAll(".", "\\.");
  if (
    name === undefined ||
    !new RegExp(`\\sxmlns:${name}\\s*=\\s*["']http://www\\.w3\\.org/1999/xhtml["']`).test(attributes ?? "")
  )
    return text;
  return text.replaceAll(new RegExp(`(</?)${name}:(?=[a-z])`, "gi"), "$1");
}

function withoutCdata(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf(CDATA); at !== -1; at = text.indexOf(CDATA, from)) {
    const end = text.indexOf("]]>", at);
    if (end === -1) break;
    const isCode = /<(?:script|style)\b[^<>]*>\s*(?:\/\/|\/\*)?\s*$/i.test(text.slice(Math.max(from, at - 300), at));
    const data = text.slice(at + CDATA.length, end);
    parts.push(text.slice(from, at), isCode ? data : data.replaceAll("&", "&amp;").replaceAll("<", "&lt;"));
    from = end + 3;
  }
  return parts.join("") + text.slice(from);
}
