interface Measurement {
  readonly file: string;
  readonly about: string;
  /** Options of Node itself. */
  readonly node?: readonly string[];
}

/** What `npm run measure` runs, by name. Most write a page of docs/measured. */
export const measurements: ReadonlyMap<string, Measurement> = new Map(
  Object.entries<Measurement>({
    bench: {
      file: "test/bench/bench.ts",
      about: "a call, beside other ways of making it: see --help; kept by --out docs/measured",
    },
    flood: { file: "test/abuse/measure.ts", about: "what one bad agent costs the others" },
    scale: {
      file: "test/bench/scale/measure.ts",
      about: "what to raise first, what each part takes by calls/s, and growth to 100 services or 1000 callers; --only",
    },
    agent: { file: "test/agent/measure.ts", about: "what the agent adds to its model's time, and memory of a session" },
    families: {
      file: "test/agent/families/measure.ts",
      about: "a thousand definitions of agents, with five children each",
      node: ["--expose-gc"],
    },
    parked: {
      file: "test/faults/parked/measure.ts",
      about: "10 000 calls that wait for people, and 1 000 while every process is killed",
    },
    wisps: { file: "test/agent/wisps/measure.ts", about: "a wisp beside a batch and a model loop" },
    policy: { file: "test/policy/measure.ts", about: "what the policy costs a call, and what a flood costs others" },
    mcp: {
      file: "test/mcp/measure.ts",
      about: "what the way over the bus costs an MCP call, and a bridge with 50 servers",
    },
    "mcp-features": {
      file: "test/mcp/write-features.ts",
      about: "each feature with each kind of MCP server: docs/reference/mcp-features.md, which a test checks",
    },
    pages: {
      file: "test/bench/pages/bench.ts",
      about: "pages as markdown, beside other ways of making it: kept by --out docs/measured",
    },
    "page-scores": {
      file: "test/bench/pages/measure.ts",
      about: "how much of the content of a FOLDER of pages with ground truth is found",
    },
    "page-fuzz": {
      file: "test/bench/pages/fuzz/fuzz.ts",
      about: "broken and hostile pages to markdown, by --pages N and --seed N: writes no page",
    },
    "page-training": {
      file: "test/bench/pages/training/train.ts",
      about: "learns from a FOLDER of pages what their content is, and writes the model for it",
      node: ["--max-old-space-size=6000"],
    },
    browse: {
      file: "test/bench/pages/browse/browse.ts",
      about: "many browses of large pages at once, with a hostile one among them: kept by --out docs/measured",
    },
    console: {
      file: "test/console/measure.ts",
      about: "how soon the console can be used and shows a killed service, and what viewers cost its gateway",
    },
    search: {
      file: "test/search/measure.ts",
      about: "how well and how fast tools are found, and what the tools mode saves",
    },
    knowledge: { file: "test/knowledge/measure.ts", about: "searches among 100 000 items, in SQLite and PostgreSQL" },
    memory: { file: "test/memory/measure.ts", about: "what chunks of a large result cost, and working memory" },
    scripts: { file: "test/scripts/measure.ts", about: "what a script costs in each kind of sandbox" },
    images: {
      file: "test/compose/measure-images.ts",
      about: "size, start and memory of the images that `npm run images` has built",
    },
    start: { file: "scripts/measure/start-main.ts", about: "start, idle memory and libraries of each bundled service" },
    house: {
      file: "scripts/measure/house-main.ts",
      about: "lines, functions, folders, settings and words of a checkout: writes no page",
    },
    soak: { file: "test/faults/soak.ts", about: "the faults of test/faults in large numbers" },
  }),
);
