/** Texts that splitters are slow on, each of about so many characters. */
export function hostileTexts(length: number): Readonly<Record<string, string>> {
  const filled = (part: string): string => part.repeat(Math.ceil(length / part.length)).slice(0, length);
  return {
    "`#` on one line": filled("#"),
    "`# ` on lines": filled("# \n"),
    "backticks on one line": filled("`"),
    "fences, one opened after another": filled("```\n"),
    "a fence that nothing ends": `\`\`\`${filled("x\n")}`,
    "bars on one line": filled("|"),
    "bars on lines": filled("|\n"),
    "a table of one header": filled("|-\n"),
    "one line of letters": filled("x"),
    "line ends": filled("\n"),
    "one quote, then lines": `a,b\n1,2\n3,4\n"${filled("x,y\n")}`,
    "brackets that open": filled("["),
    "JSON with one string": JSON.stringify([filled("x")]),
    "JSON with one string of escapes": `["${filled("\\\\")}"]`,
    "JSON with one key": JSON.stringify({ [filled("k")]: [1, 2, 3] }),
    "JSON of commas": `[${filled("1,")}1]`,
    "JSON of blanks": `[${filled(" ")}]`,
  };
}
