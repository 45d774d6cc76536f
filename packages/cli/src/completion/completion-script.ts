import type { CompletionNode, Described } from "./completion-tree.ts";

/** The shells that there is a script for. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export interface CompletionScriptOptions {
  readonly tree: readonly CompletionNode[];
  /** The names that the schemas and the list of services know, for a system that does not run. */
  readonly names: Readonly<Record<"tools" | "services" | "guides", readonly string[]>>;
  /** Prints the names of the running system when a kind is put behind it. */
  readonly lookUp: readonly string[];
}

/**
 * A script that the shell sources: all commands and options are in it, so that only names of a running system are asked
 * for.
 */
export function completionScript(shell: Shell, { tree, names, lookUp }: CompletionScriptOptions): string {
  const syntax = shell === "fish" ? fish : sh;
  const described = (entries: readonly Described[]): string[] =>
    entries.map(({ name, description }) => `${name}\t${description}`);
  const tables = [
    syntax.table(
      "__rockbot_commands",
      tree.map(({ path, commands }) => [path, described(commands)]),
    ),
    syntax.table(
      "__rockbot_options",
      tree.map(({ path, options }) => [path, described(options)]),
    ),
    syntax.table(
      "__rockbot_takes",
      tree.flatMap(({ path, values }) =>
        [...values].map(([flag, completion]): Row => [`${path} ${flag}`.trim(), [completion]]),
      ),
    ),
    syntax.table(
      "__rockbot_argument",
      tree.flatMap(({ path, arguments: all }) =>
        all.map(
          ({ completion, isRepeated }, index): Row => [`${path} ${isRepeated ? "*" : index}`.trim(), [completion]],
        ),
      ),
    ),
    syntax.table(
      "__rockbot_is_command",
      tree.filter(({ path }) => path !== "").map(({ path }): Row => [path, ["yes"]]),
    ),
    syntax.table("__rockbot_known", Object.entries(names)),
  ];
  return [
    `# Completion of rockbot for ${shell}, made by "rockbot completion ${shell}".`,
    ...tables,
    syntax.lookUp(lookUp),
    fronts[shell],
  ].join("\n");
}

/** The line that a table prints for a word. */
type Row = [of: string, lines: readonly string[]];

interface Syntax {
  /** A function that prints the lines of its one argument; `*` in a row matches anything. */
  table(name: string, rows: readonly Row[]): string;
  lookUp(command: readonly string[]): string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
/** A pattern of `case`: only the star of a repeated argument is one. */
const pattern = (of: string): string => (of.endsWith("*") ? `${quoted(of.slice(0, -1))}*` : quoted(of));

const sh: Syntax = {
  table: (name, rows) =>
    [
      `${name}() {`,
      '  case "$1" in',
      ...rows
        .filter(([, lines]) => lines.length > 0)
        .map(([of, lines]) => `    ${pattern(of)}) printf '%s\\n' ${lines.map(quoted).join(" ")} ;;`),
      "  esac",
      "}",
    ].join("\n"),
  lookUp: (command) => `__rockbot_running() { ${command.map(quoted).join(" ")} "$1" 2>/dev/null; }`,
};

const fish: Syntax = {
  table: (name, rows) =>
    [
      `function ${name}`,
      '  switch "$argv[1]"',
      ...rows
        .filter(([, lines]) => lines.length > 0)
        .map(([of, lines]) => `    case ${fishQuoted(of)}\n      printf '%s\\n' ${lines.map(fishQuoted).join(" ")}`),
      "  end",
      "end",
    ].join("\n"),
  lookUp: (command) => `function __rockbot_running\n  ${command.map(fishQuoted).join(" ")} "$argv[1]" 2>/dev/null\nend`,
};

/**
 * The function that finds candidates, for bash and zsh. Prints a candidate a line, with its description behind a tab;
 * `:file` asks for files. Gets the word at the cursor, then those before it.
 */
const find = `__rockbot_names() {
  local names
  names=$(__rockbot_running "$1")
  if [ -n "$names" ]; then printf '%s\\n' "$names"; else __rockbot_known "$1"; fi
}
__rockbot_complete() {
  local cur=$1 at= takes= index=0 word= next=
  shift
  for word in "$@"; do
    if [ -n "$takes" ]; then
      if [ "$word" != "=" ]; then takes=; fi
      continue
    fi
    case $word in
      -*) takes=$(__rockbot_takes "\${at:+$at }$word"); continue ;;
    esac
    next="\${at:+$at }$word"
    if [ -n "$(__rockbot_is_command "$next")" ]; then at=$next; index=0; else index=$((index + 1)); fi
  done
  if [ -z "$takes" ]; then
    case $cur in
      -*) __rockbot_options "$at"; return ;;
    esac
    if [ "$index" = 0 ]; then __rockbot_commands "$at"; fi
    takes=$(__rockbot_argument "\${at:+$at }$index")
  fi
  case $takes in
    file) echo :file ;;
    services)
      case $cur in
        *,*) __rockbot_names services | while IFS= read -r word; do printf '%s\\n' "\${cur%,*},$word"; done ;;
        *) __rockbot_names services ;;
      esac ;;
    tools | guides) __rockbot_names "$takes" ;;
    words\\ *) printf '%s\\n' "\${takes#words }" | tr ' ' '\\n' ;;
  esac
}`;

const fronts: Readonly<Record<Shell, string>> = {
  bash: `${find}
# Bash takes --policy=file and key=@file apart at = and @, unless COMP_WORDBREAKS says otherwise. What it replaces begins with the @.
_rockbot() {
  local cur=\${COMP_WORDS[COMP_CWORD]} last=\${COMP_WORDS[COMP_CWORD-1]} before= line=
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=()
  if [[ $cur == = || $cur == =@ ]]; then last=$cur cur=; fi
  if [[ $last == =@ ]]; then before=@; _rockbot_files "$cur"; return; fi
  if [[ $last == = && $cur == @* ]]; then before=@; _rockbot_files "\${cur#@}"; return; fi
  if [[ $cur == [!-]*=@* ]]; then before=\${cur%%=@*}=@; _rockbot_files "\${cur#*=@}"; return; fi
  if [[ $cur == --*=* ]]; then before=\${cur%%=*}= words+=("\${cur%%=*}") cur=\${cur#*=}; fi
  while IFS= read -r line; do
    if [ "$line" = :file ]; then _rockbot_files "$cur"
    elif [[ \${line%%$'\\t'*} == "$cur"* ]]; then COMPREPLY+=("$before\${line%%$'\\t'*}")
    fi
  done < <(__rockbot_complete "$cur" "\${words[@]}")
}
_rockbot_files() {
  local line=
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do COMPREPLY+=("$before$line"); done < <(compgen -f -- "$1")
}
complete -F _rockbot rockbot ./rockbot
`,
  zsh: `${find}
_rockbot() {
  local line
  local -a items
  for line in "\${(@f)$(__rockbot_complete "\${words[CURRENT]}" "\${(@)words[2,CURRENT-1]}")}"; do
    if [[ $line == :file ]]; then _files
    elif [[ -n $line ]]; then items+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${\${line#*$'\\t'}}")
    fi
  done
  (( \${#items} )) && _describe rockbot items
}
(( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit; }
compdef _rockbot rockbot ./rockbot
`,
  fish: `function __rockbot_names
  set -l names (__rockbot_running $argv[1])
  if test (count $names) -gt 0
    printf '%s\\n' $names
  else
    __rockbot_known $argv[1]
  end
end
function __rockbot_complete
  set -l cur (commandline -ct)
  set -l words (commandline -opc)
  set -l at
  set -l takes
  set -l index 0
  for word in $words[2..-1]
    if test -n "$takes"
      set takes
    else if string match -q -- '-*' $word
      set takes (__rockbot_takes (string trim -- "$at $word"))
    else if test -n "$(__rockbot_is_command (string trim -- "$at $word"))"
      set at (string trim -- "$at $word")
      set index 0
    else
      set index (math $index + 1)
    end
  end
  if test -z "$takes"
    if string match -q -- '-*' $cur
      __rockbot_options "$at"
      return
    end
    if test $index = 0
      __rockbot_commands "$at"
    end
    set takes (__rockbot_argument (string trim -- "$at $index"))
  end
  switch "$takes"
    case file
      __fish_complete_path $cur
    case services
      set -l before (string match -r -- '.*,' $cur)
      for name in (__rockbot_names services)
        echo "$before$name"
      end
    case tools guides
      __rockbot_names $takes
    case 'words *'
      string split ' ' -- (string replace 'words ' '' -- $takes)
  end
end
complete -c rockbot -f -a '(__rockbot_complete)'
`,
};
