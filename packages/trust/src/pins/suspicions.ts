import type { SeenTool } from "./pin.ts";

const ENCODED = "holds text that is encoded";

/**
 * Signs that a definition speaks to the model instead of describing a tool. Each is a sentence that goes on after "it".
 */
const SIGNS: readonly (readonly [string, RegExp])[] = [
  [
    "tells to set earlier instructions aside",
    /\b(?:ignore|disregard|forget|overrides?|bypass|supersedes?)\b[^.\n]{0,40}\b(?:previous|prior|earlier|above|preceding|all other|any other|system|safety|developer|user(?:'s)?)\b[^.\n]{0,30}\b(?:instructions?|prompts?|messages?|rules?|guidelines?|polic(?:y|ies)|context|directives?)\b/i,
  ],
  [
    "tells to keep something from the user",
    /\b(?:do(?: not|n['’]t)|never|without|avoid|must not)\b[^.\n]{0,30}\b(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|show(?:ing)?|ask(?:ing)?|alert(?:ing)?)\b[^.\n]{0,30}\b(?:users?|humans?|anyone|operators?|person|people)\b/i,
  ],
  [
    "asks for secrecy",
    /\b(?:secretly|silently|covertly|stealthily|behind the scenes)\b[^.\n]{0,60}\b(?:send|read|cop(?:y|ies)|call|add|include|forward|upload|append|bcc|pass|post|collect|log)\b|\b(?:keep|hide|conceal)\b[^.\n]{0,25}\b(?:this|it|that)\b[^.\n]{0,25}\b(?:secret|hidden|from the (?:user|human))/i,
  ],
  [
    "speaks in the markup of prompts",
    /<\/?\s*(?:important|system|instructions?|secret|hidden|admin|assistant|user|tool_?(?:call|result)s?|function_calls?|critical)\b[^>]{0,60}>|\[\/?(?:INST|SYSTEM|SYS)\]|<\|[a-z_]{2,30}\|>|<<SYS>>|^\s*#{0,4}\s*(?:system|assistant|developer)\s*(?:prompt|message|instructions?)?\s*:/im,
  ],
  [
    "gives orders about other tools",
    /\b(?:before|after|whenever|instead of|prior to|every time)\b[^.\n]{0,30}\b(?:any|all|every|each|other)\b[^.\n]{0,20}\btools?\b|\b(?:when|whenever|if|once)\b[^.\n]{0,30}\btools?\b (?:is|are|gets?) (?:used|called|invoked|available|present)\b|\b(?:must|always|have to)\b[^.\n]{0,20}\b(?:call|use|invoke|run)\b[^.\n]{0,20}\b(?:first|before anything|before answering|before you)\b|\b(?:replaces|supersedes|deprecates)\b[^.\n]{0,30}\btools?\b|\bdo not (?:use|call)\b[^.\n]{0,30}\b(?:tools?|any other|\w+__\w+)\b/i,
  ],
  [
    "tells where to send data",
    /\b(?:send|post|upload|forward|exfiltrate|transmit|bcc|cc|report|leak)\b[^\n]{0,80}(?:https?:\/\/|[\w.+-]+@[\w-]+\.\w)/i,
  ],
  [
    "holds a picture whose address could carry data away",
    /!\[[^\]]{0,200}\]\(\s*https?:\/\/[^)\s]{0,300}(?:[?&=]|\{|<)/i,
  ],
  [
    "holds characters that nobody sees",
    /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/u,
  ],
  [ENCODED, /(?:\\x[0-9a-f]{2}){8,}|(?:\\u[0-9a-f]{4}){8,}|(?:%[0-9a-f]{2}){12,}/i],
];

const GIVE = String.raw`\b(?:put|give|send|pass|include|provide|append|attach|upload|post|forward|supply|paste|copy|insert|contents?[ _]of)`;
const SECRET_FILE = String.raw`(?:\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|bash_history)\b|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/(?:passwd|shadow)\b|(?<![\w.])\.env\b|\bmcp\.json\b|\bclaude_desktop_config\b|\/proc\/(?:self|\d+|\*)\/environ)`;
const SECRET = String.raw`(?:api[ _-]?keys?|access tokens?|passwords?|credentials?|private keys?|secrets?|environment variables?)\b`;
const CONVERSATION = String.raw`\b(?:(?:your|our|the|this|full|entire|whole|complete) (?:\w+ ){0,2}(?:conversation history|chat history|system prompt|previous messages|context)|(?:all|every) (?:\w+ ){0,2}(?:conversation history|chat history|previous messages))\b`;
const OWNED = String.raw`(?:\b(?:your|their|(?:the )?users?['’]s?|users['’]) (?:\w+ ){0,2}${SECRET}|\b${SECRET}[^.\n]{0,20}\bof (?:the|your|this) (?:user|human|model|agent|host)\b)`;
/**
 * Secrets without an owner, where a sentence or a part of it begins with the order. "Provide the password" alone is
 * what many tools need.
 */
const UNOWNED = String.raw`(?:^|[.,;:!?] ?|\b(?:and|so|then|but|please|must) )(?:(?:${GIVE}|fill)\b(?: (?!to\b)[^\s.]{1,40}){0,3} (?:all|every|any)|(?:put|include|append|attach|paste|copy|insert|send|forward) the) (?:\w+ )?${SECRET}`;
/** What is in a file becomes an argument. */
const TAKEN = String.raw`\b(?:set|fill)\b[^.\n]{0,60}\b(?:text|values?|what|everything)\b[^.\n]{0,20}${SECRET_FILE}|${SECRET_FILE}[^.\n]{0,80}\buse (?:\w+ ){1,4}(?:as|into)\b`;

/**
 * The same where only an order counts. Many tools speak of files and passwords, to say what they do, or what is not to
 * be given to them: that is taken out first.
 */
const ORDERS: readonly (readonly [string, RegExp])[] = [
  [
    "asks for files that hold secrets",
    new RegExp(
      String.raw`(?:${GIVE}|\bneeds?\b)[^.\n]{0,60}${SECRET_FILE}|${SECRET_FILE}[^.\n]{0,80}${GIVE}\b|${TAKEN}`,
      "i",
    ),
  ],
  [
    "asks for secrets or for the conversation",
    new RegExp(String.raw`${GIVE}\b[^.\n]{0,60}(?:${OWNED}|${CONVERSATION})|${UNOWNED}`, "im"),
  ],
];
/** Only where giving itself is forbidden, and only that part of the sentence: an order may stand behind it. */
const PROHIBITION = new RegExp(
  String.raw`\b(?:do(?: not|n['’]t)|never|cannot|can['’]t|must not|should not|shouldn['’]t|refuses?|without) (?:(?:ever|try|also|\w+ or) )?(?:to )?${GIVE}(?:(?! (?:so|but|and|then|instead|otherwise)\b)[^.,;:\n])*`,
  "gi",
);

/** The most characters of a definition's texts together. */
const MAX_READ = 200_000;
const MAX_DEPTH = 64;

/**
 * The parts of a definition that look as if they were written to mislead a model. They are signs, not proof, in
 * descriptions, titles, defaults, examples and names alike, wherever in the schemas. A definition without a sign is not
 * harmless for it; one with a sign is shown to a person first.
 */
export function suspicionsOf({ name, title, description, inputSchema, outputSchema }: SeenTool): readonly string[] {
  const text = [name, title ?? "", description, ...textsIn([inputSchema, outputSchema])].join("\n").slice(0, MAX_READ);
  const ordered = text.replaceAll(PROHIBITION, "");
  const signs = [
    ...SIGNS.filter(([, sign]) => sign.test(text)),
    ...ORDERS.filter(([, sign]) => sign.test(ordered)),
  ].map(([sign]) => sign);
  return [...new Set(hidesText(text) ? [...signs, ENCODED] : signs)].map((sign) => `it ${sign}`);
}

/** Runs of characters that may be base64, of either alphabet, or hexadecimal. */
const RUNS = /[A-Za-z0-9+/_-]{120,}/g;
const MAX_RUNS = 100;
/** The longest decoded run, in bytes. */
const MAX_DECODED = 1_024;
const MIN_DECODED = 20;
/** The share of decoded characters that have to be readable. */
const READABLE_SHARE = 0.9;

/**
 * Tells whether a long run of characters decodes to text. A run that only looks so, as a long name does, gives bytes
 * that are no text.
 */
function hidesText(text: string): boolean {
  for (const [run] of [...text.matchAll(RUNS)].slice(0, MAX_RUNS)) {
    const isHex = /^[0-9a-f]+$/i.test(run);
    // The text may begin anywhere in the run, as names and codes have the same letters.
    for (let from = 0; from < (isHex ? 2 : 4); from++)
      if (isReadable(Buffer.from(run.slice(from), isHex ? "hex" : "base64"))) return true;
    if (isHex && isReadable(Buffer.from(run, "base64"))) return true;
  }
  return false;
}

/** UTF-8, or two bytes a character. Bytes of anything else are hardly ever either. */
function isReadable(bytes: Buffer): boolean {
  const kept = Uint8Array.from(bytes.subarray(0, MAX_DECODED).filter((byte) => byte !== 0));
  if (kept.length < MIN_DECODED) return false;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(kept, { stream: true }); // the last character may be cut
  } catch {
    text = Buffer.from(kept)
      .toString("latin1")
      .replaceAll(/[\x80-\xff]/g, "\0");
  }
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "").length >= READABLE_SHARE * text.length;
}

function textsIn(root: unknown): string[] {
  const texts: string[] = [];
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null && depth < MAX_DEPTH)
      for (const [key, inner] of Object.entries(value)) {
        if (!Array.isArray(value)) texts.push(key);
        open.push({ value: inner, depth: depth + 1 });
      }
  }
  return texts;
}
