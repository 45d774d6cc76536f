import { decodeHTML, decodeHTMLAttribute } from "entities/decode";
import { html as names, type Parser, Token, TokenizerMode, type TreeAdapterTypeMap } from "parse5";

/**
 * Reads a page into the tokens of the standard, and gives them to `parser`, which makes a tree of them. parse5's own
 * tokenizer goes through a page character by character, and takes four times as long. Comments are no tokens here.
 * Takes time in proportion to the length.
 * @param html with line ends of one character
 * @see https://html.spec.whatwg.org/multipage/parsing.html#tokenization
 */
export function readTokens<T extends TreeAdapterTypeMap>(html: string, parser: Parser<T>): void {
  const reader = new TokenReader(html, parser);
  let start = 0;
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", Math.max(start, at + 1))) {
    if (!isMarkup(html.charCodeAt(at + 1), html.length - at)) continue;
    if (at > start) reader.text(decoded(html.slice(start, at)));
    start = reader.markup(at);
  }
  reader.text(decoded(html.slice(start)));
  parser.onEof({ type: Token.TokenType.EOF, location: null });
}

/** Tells whether `<` before such a character begins anything. Before the last character of a page a slash is text. */
const isMarkup = (next: number, left: number): boolean =>
  isLetter(next) || next === MARK || next === QUESTION || (next === SLASH && left > 2);
const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
const isGap = (code: number): boolean => code === SLASH || isSpace(code);
const endsName = (code: number): boolean => code === EQUALS || code === END || isGap(code);
const MARK = 0x21;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const END = 0x3e;
const QUESTION = 0x3f;

const decoded = (text: string): string => (text.includes("&") ? decodeHTML(text) : text);
const decodedValue = (text: string): string => (text.includes("&") ? decodeHTMLAttribute(text) : text);

class TokenReader<T extends TreeAdapterTypeMap> {
  readonly #html: string;
  readonly #parser: Parser<T>;

  constructor(html: string, parser: Parser<T>) {
    this.#html = html;
    this.#parser = parser;
  }

  /** White space before the first word is a token of its own: between the parts of a table it means nothing. */
  text(text: string): void {
    let words = 0;
    while (words < text.length && isSpace(text.charCodeAt(words))) words++;
    if (words > 0)
      this.#parser.onWhitespaceCharacter({
        type: Token.TokenType.WHITESPACE_CHARACTER,
        chars: text.slice(0, words),
        location: null,
      });
    if (words < text.length)
      this.#parser.onCharacter({
        type: Token.TokenType.CHARACTER,
        chars: words === 0 ? text : text.slice(words),
        location: null,
      });
  }

  /** Reads what begins with the `<` at `at`, up to where it returns. */
  markup(at: number): number {
    const html = this.#html;
    const next = html.charCodeAt(at + 1);
    if (isLetter(next)) return this.#tag(at + 1, false);
    if (next === SLASH && isLetter(html.charCodeAt(at + 2))) return this.#tag(at + 2, true);
    if (next === MARK) return this.#declaration(at);
    return behind(html, ">", at + 2);
  }

  #declaration(at: number): number {
    const html = this.#html;
    if (html.startsWith("--", at + 2)) {
      COMMENT.lastIndex = at + 4;
      return COMMENT.test(html) ? COMMENT.lastIndex : html.length;
    }
    if (html.startsWith(CDATA, at) && this.#parser.tokenizer.inForeignNode) {
      const end = behind(html, "]]>", at + CDATA.length);
      this.text(html.slice(at + CDATA.length, end).replace(/\]\]>$/, ""));
      return end;
    }
    const end = behind(html, ">", at + 2);
    const declaration = html.slice(at, end);
    if (/^<!doctype/i.test(declaration)) this.#parser.onDoctype(doctypeOf(declaration));
    return end;
  }

  #tag(at: number, isEnd: boolean): number {
    const html = this.#html;
    let behindName = at;
    while (behindName < html.length && html.charCodeAt(behindName) !== END && !isGap(html.charCodeAt(behindName)))
      behindName++;
    const name = html.slice(at, behindName).toLowerCase();
    const attrs: Token.Attribute[] = [];
    const end = this.#attributes(behindName, attrs);
    if (end >= html.length) return html.length; // a tag that does not end is none
    const tag: Token.TagToken = {
      type: isEnd ? Token.TokenType.END_TAG : Token.TokenType.START_TAG,
      tagName: name,
      tagID: names.getTagID(name),
      selfClosing: html.charCodeAt(end - 1) === SLASH,
      ackSelfClosing: false,
      attrs,
      location: null,
    };
    if (isEnd) {
      this.#parser.onEndTag(tag);
      return end + 1;
    }
    this.#parser.onStartTag(tag);
    return this.#rawText(name, end + 1);
  }

  /**
   * Reads attributes up to the end of their tag, of which it returns the place. Without regular expressions, for most
   * of a page's characters may stand here.
   */
  #attributes(from: number, attrs: Token.Attribute[]): number {
    const html = this.#html;
    for (let at = from; ; ) {
      while (isGap(html.charCodeAt(at))) at++;
      if (at >= html.length || html.charCodeAt(at) === END) return at;
      const start = at++;
      while (at < html.length && !endsName(html.charCodeAt(at))) at++;
      const name = html.slice(start, at).toLowerCase();
      let value = behindSpace(html, at);
      if (html.charCodeAt(value) !== EQUALS) {
        attrs.push({ name, value: "" });
        continue;
      }
      value = behindSpace(html, value + 1);
      const quote = html.charCodeAt(value);
      if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
        const end = html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", ++value);
        if (end === -1) return html.length;
        at = end + 1;
        attrs.push({ name, value: decodedValue(html.slice(value, end)) });
      } else {
        for (at = value; at < html.length && html.charCodeAt(at) !== END && !isSpace(html.charCodeAt(at)); ) at++;
        attrs.push({ name, value: decodedValue(html.slice(value, at)) });
      }
    }
  }

  /**
   * The text of an element in which no tag begins. Its parser, which knows where it stands, tells whether it is one by
   * the state of its own tokenizer.
   */
  #rawText(name: string, at: number): number {
    const { tokenizer } = this.#parser;
    const { state } = tokenizer;
    if (state === TokenizerMode.DATA) return at;
    tokenizer.state = TokenizerMode.DATA;
    const html = this.#html;
    const end =
      state === TokenizerMode.PLAINTEXT
        ? html.length
        : state === TokenizerMode.SCRIPT_DATA
          ? endOfScript(html, at)
          : endOf(html, name, at);
    const text = html.slice(at, end);
    this.text(state === TokenizerMode.RCDATA ? decoded(text) : text);
    return end;
  }
}

const CDATA = "<![CDATA[";
/** The end of a comment, from behind `<!--`. */
const COMMENT = /-?>|.*?--!?>/sy;

function behindSpace(html: string, from: number): number {
  let at = from;
  while (isSpace(html.charCodeAt(at))) at++;
  return at;
}

function behind(html: string, sign: string, from: number): number {
  const at = html.indexOf(sign, from);
  return at === -1 ? html.length : at + sign.length;
}

function endOf(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi");
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

/** A script that writes a script in a comment holds the end tag of that. */
function endOfScript(html: string, from: number): number {
  const mark = /<!--|-->|<(\/?)script(?=[\t\n\f\r />])/gi;
  mark.lastIndex = from;
  let depth = 0; // 1 in a comment, 2 in a script in it
  for (let found = mark.exec(html); found !== null; found = mark.exec(html)) {
    const { 0: sign, 1: slash, index } = found;
    if (sign === "-->") depth = 0;
    else if (sign === "<!--") {
      depth = Math.max(depth, 1);
      mark.lastIndex -= 2; // `<!-->` ends what it begins
    } else if (slash === "") depth = depth === 0 ? 0 : 2;
    else if (depth < 2) return index;
    else depth = 1;
  }
  return html.length;
}

/** What tells how old a page is. */
function doctypeOf(declaration: string): Token.DoctypeToken {
  const [, name = null, publicId, , systemId] = DOCTYPE.exec(declaration) ?? [];
  const inside = (quoted: string | undefined): string | null => quoted?.slice(1, -1) ?? null;
  return {
    type: Token.TokenType.DOCTYPE,
    name: name?.toLowerCase() ?? null,
    forceQuirks: name === null,
    publicId: inside(publicId),
    systemId: inside(systemId),
    location: null,
  };
}

const DOCTYPE =
  /^<!doctype[\t\n\f\r ]*([^\t\n\f\r >]+)[\t\n\f\r ]*(?:(?:public[\t\n\f\r ]*("[^">]*"|'[^'>]*')[\t\n\f\r ]*(?=["'>])|(system[\t\n\f\r ]*(?=["'])))(?:("[^">]*"|'[^'>]*')|>)|>)/i;
