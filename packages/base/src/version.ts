import manifest from "../../../package.json" with { type: "json" };

/** The version of all of RockBot, as package.json at the root of the repository says. */
export const version: string = manifest.version;
