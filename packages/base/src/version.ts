import manifest from "../../../package.json" with { type: "json" };

/** Of all of RockBot: what package.json at the root of the repository says. */
export const version: string = manifest.version;
