/** Properties that css-tree knows and Chromium, whose answers count here, does not, as `CSS.supports` tells. */
const unknownNames: ReadonlySet<string> = new Set([
  ...[
    "align-tracks",
    "behavior",
    "box-align",
    "box-direction",
    "box-flex",
    "box-flex-group",
    "box-lines",
    "box-ordinal-group",
    "box-orient",
    "box-pack",
  ],
  ...[
    "caret",
    "cue",
    "cue-after",
    "cue-before",
    "font-smooth",
    "font-synthesis-position",
    "font-width",
    "glyph-orientation-horizontal",
  ],
  ...[
    "glyph-orientation-vertical",
    "hanging-punctuation",
    "image-resolution",
    "ime-mode",
    "initial-letter-align",
    "justify-tracks",
    "kerning",
    "line-clamp",
  ],
  ...[
    "line-height-step",
    "mask-border",
    "mask-border-mode",
    "mask-border-outset",
    "mask-border-repeat",
    "mask-border-slice",
    "mask-border-source",
  ],
  ...[
    "mask-border-width",
    "masonry-auto-flow",
    "max-lines",
    "overflow-clip-box",
    "pause",
    "pause-after",
    "pause-before",
    "position-try-options",
    "rest",
  ],
  ...[
    "rest-after",
    "rest-before",
    "ruby-merge",
    "scroll-snap-coordinate",
    "scroll-snap-destination",
    "scroll-snap-points-x",
    "scroll-snap-points-y",
  ],
  ...[
    "scroll-snap-type-x",
    "scroll-snap-type-y",
    "speak-as",
    "stroke-color",
    "text-decoration-inset",
    "text-decoration-skip",
    "white-space-trim",
  ],
]);

/** What Chromium knows behind `-webkit-`. */
const webkitNames = new RegExp(
  `^-webkit-(?:${[
    "align-(?:content|items|self)|animation(?:-(?:delay|direction|duration|fill-mode|iteration-count|name|play-state|timing-function))?|app-region|appearance",
    "backface-visibility|background-(?:clip|origin|size)|border-(?:after|before|end|start)(?:-(?:color|style|width))?|border-image",
    "border-(?:(?:bottom|top)-(?:left|right)-)?radius|border-(?:horizontal|vertical)-spacing",
    "box-(?:align|decoration-break|direction|flex|ordinal-group|orient|pack|reflect|shadow|sizing)|clip-path",
    "column-(?:break-(?:after|before|inside)|count|gap|rule(?:-(?:color|style|width))?|span|width)|columns|filter",
    "flex(?:-(?:basis|direction|flow|grow|shrink|wrap))?|font-(?:feature-settings|smoothing)|hyphenate-character|justify-content|line-(?:break|clamp)|locale",
    "(?:(?:max|min)-)?logical-(?:height|width)|(?:margin|padding)-(?:after|before|end|start)",
    "mask(?:-(?:box-image(?:-(?:outset|repeat|slice|source|width))?|clip|composite|image|origin|position(?:-[xy])?|repeat|size))?|opacity|order",
    "perspective(?:-origin(?:-[xy])?)?|print-color-adjust|rtl-ordering|ruby-position|shape-(?:image-threshold|margin|outside)|tap-highlight-color",
    "text-(?:combine|decorations-in-effect|emphasis(?:-(?:color|position|style))?|fill-color|orientation|security|size-adjust|stroke(?:-(?:color|width))?)",
    "transform(?:-(?:origin(?:-[xyz])?|style))?|transition(?:-(?:delay|duration|property|timing-function))?|user-(?:drag|modify|select)|writing-mode",
  ].join("|")})$`,
);

/** Whose values are names that a page makes up. */
const madeUp = /^(?:animation|container|font-family|grid|transition|view-transition|will-change)/;
const otherValues = /(?:^|[\s,(])-(?:apple|khtml|moz|ms|o)-|^(?:-webkit-sticky|run-in)$/;

/** Whether a declaration, in lower case, is one for other browsers. */
export const isForeign = (name: string, value: string): boolean =>
  unknownNames.has(name) ||
  (/^-(?!-|epub-)/.test(name) && !webkitNames.test(name)) ||
  (name === "font" ? /^-apple-system\S*$/.test(value) : otherValues.test(value) && !madeUp.test(name));
