/**
 * What the words of a heading, a label or a short text say of their place on the page. Hints only: what follows from
 * one is learnt.
 */
const phrases: Readonly<Record<string, RegExp>> = {
  related:
    /\b(?:related|recommend|you (?:may|might|could)|also (?:like|read|view|bought|see)|more (?:from|in|on|like|stories|articles|news|posts|about)|read (?:next|also)|popular|trending|latest|most (?:read|viewed|popular)|recent|similar|don.t miss|up next|what to read|further reading|see also|customers (?:who|also)|frequently bought|keep reading|explore|discover|featured|editor.?s|top stories|inspired by|sponsored|pair(?:s|ed) (?:well )?with|complete the|recently viewed)\b|ähnliche|weitere|mehr zum|auch interess|articles similaires|à lire|relacionad|te puede|leggi anche|potrebbe|leia (?:também|mais)|читайте/,
  comments:
    /\b(?:comments?|leave a|replies|responses?|discussion|join the conversation|kommentare?|commentaires?|comentarios?|commenti|комментар)/,
  share:
    /\b(?:share|tweet|follow (?:us|me)|facebook|twitter|linkedin|pinterest|whatsapp|instagram|email this|copy link|print|teilen|partager|compartir|condividi)\b/,
  letter:
    /\b(?:newsletter|subscribe|sign ?(?:up|in)|log ?(?:in|out)|e-?mail address|your email|inbox|register|create an account|join (?:us|now|free)|my account|anmelden|abonn|suscr|iscriv)/,
  meta: /^(?:by|von|par|por|di|от)\s|\b(?:published|updated|posted|written by|min(?:ute)?s? read|last (?:modified|updated|edited)|filed under|tagged|tags:|categor|author|reviewed by|views|photo(?:graph)? (?:by|credit)|getty|image credit)\b/,
  action:
    /\b(?:read more|learn more|view (?:all|more|details)|see (?:all|more|details)|show (?:all|more|less)|load more|shop (?:now|all)|add to|buy now|click here|find out|get started|download|reply|quote|report|permalink|edit|back to|go to|continue reading|next|previous|skip to|close|menu|search|filter|sort by|compare|wishlist|quick ?view|book now|contact us|select|choose|apply now|sold out|in stock|out of stock)\b/,
  faq: /\bf\.?a\.?q|frequently asked|questions|how (?:do|does|can|to)\b|what (?:is|are)\b/,
  review: /\b(?:reviews?|ratings?|stars?|verified|helpful|testimonials?|bewertung|avis|reseñas)\b/,
  product:
    /\b(?:descriptions?|details|specifications?|features?|overview|ingredients|materials?|dimensions|size|warranty|what.s (?:included|in the box)|how to use|care|highlights|benefits|technical)\b/,
  shipping:
    /\b(?:shipping|returns?|delivery|refund|free|checkout|gift|coupon|discount|% off|save|sale|payment|pick ?up|financing|installments?)\b/,
  price: /[$€£¥₹]\s?\d|\d\s?(?:€|£|usd|eur|zł|kr)\b/,
  date: /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}|\b\d{1,2}\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\b(?:19|20)\d\d-\d\d-\d\d|\b\d{1,2}[/.]\d{1,2}[/.](?:19|20)?\d\d|\b(?:\d+|an?) (?:second|minute|hour|day|week|month|year)s? ago|\byesterday\b/,
};

export const phraseNames: readonly string[] = Object.keys(phrases);
const patterns = Object.values(phrases);

/** Longer texts say such words by the way. */
const MAX_SPEAKING = 140;

/** The bits of the phrases that a text has, by their places in `phraseNames`. */
export function phrasesIn(text: string): number {
  if (text.length > MAX_SPEAKING) return 0;
  const lower = text.toLowerCase();
  let bits = 0;
  for (let i = 0; i < patterns.length; i++) if (patterns[i]?.test(lower) === true) bits |= 1 << i;
  return bits;
}
