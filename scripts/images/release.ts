import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "../check/run-tool.ts";
import { repositoryUrl, sourceFaults } from "../release/source-faults.ts";
import { readImages } from "./pinned-images.ts";

export interface BuiltImage {
  readonly image: string;
  /** What the engine knows it by: the hash of its configuration, which names its layers. */
  readonly id: string;
  /** The hashes of its layers, uncompressed: the base, then the app. */
  readonly layers: readonly string[];
}

/** What all images of one build have in common. */
export interface Release {
  /** The text before the images' names, such as `registry.example/rockbot`. */
  readonly registry: string;
  readonly tag: string;
  readonly nodeImage: string;
  readonly pythonImage: string;
  readonly noCache: boolean;
  readonly version: string;
  /** The commit. */
  readonly revision: string;
  readonly source: string;
  /** A URI of what builds: the pipeline's run. */
  readonly builder: string;
  /** The commit's time, in seconds: the images' time of creation. */
  readonly epoch: number;
}

export interface ReleaseOptions {
  readonly registry?: string | undefined;
  readonly tag?: string | undefined;
  readonly "node-image"?: string | undefined;
  readonly "python-image"?: string | undefined;
  readonly "no-cache"?: boolean | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Reads from the repository and the pipeline's variables what the options leave open. */
export async function readRelease(root: string, options: ReleaseOptions, env: Env): Promise<Release> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
  const images = readImages(await readFile(join(root, "docker/images.env"), "utf8"));
  const git = (...args: string[]) => runTool(root, "git", args);
  const [revision, epoch, source] = await Promise.all([
    git("rev-parse", "HEAD"),
    git("log", "-1", "--format=%ct"),
    repositoryUrl(root, env),
  ]);
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID, CI_JOB_URL } = env;
  const pipeline =
    GITHUB_RUN_ID === undefined
      ? CI_JOB_URL
      : `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
  return {
    registry: options.registry ?? "rockbot",
    tag: options.tag ?? version,
    nodeImage: options["node-image"] ?? images["NODE_IMAGE"] ?? "node:24-bookworm-slim",
    pythonImage: options["python-image"] ?? images["PYTHON_IMAGE"] ?? "python:3.12-slim",
    noCache: options["no-cache"] ?? false,
    version,
    revision,
    source: source ?? "unknown",
    builder: pipeline ?? "urn:rockbot:built-by-hand",
    epoch: Number(epoch),
  };
}

const DIGEST = /@sha256:[0-9a-f]{64}$/;

/** All that stands in the way of a release, in words. */
export async function imageFaults(
  root: string,
  { nodeImage, pythonImage, version }: Release,
  env: Env,
): Promise<readonly string[]> {
  return [
    ...(DIGEST.test(nodeImage)
      ? []
      : [
          `--node-image: "${nodeImage}" names no digest, so that it may be another one tomorrow. Run npm run images -- --pin, or write NAME@sha256:DIGEST`,
        ]),
    ...(DIGEST.test(pythonImage)
      ? []
      : [
          `--python-image: "${pythonImage}" names no digest, so that it may be another one tomorrow. Run npm run images -- --pin, or write NAME@sha256:DIGEST`,
        ]),
    ...(await sourceFaults(root, version, env)),
  ];
}
