import { createHash } from "node:crypto";
import type { BuiltImage, Release } from "./release.ts";

export interface ProvenanceParts {
  readonly built: BuiltImage;
  readonly service: string;
  /** The image that it was made from, as it was named. */
  readonly base: string;
  /** What pins all packages. */
  readonly lockfile: Buffer;
  readonly release: Release;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

/**
 * What an image was made from, as an in-toto statement with the predicate of SLSA 1.0. Nobody has signed it: sign it
 * where the release is made. Its subject is the image's id, the hash of its configuration. A registry's digest is
 * another one, which covers the same configuration.
 */
export function provenance({
  built,
  service,
  base,
  lockfile,
  release,
  startedAt,
  finishedAt,
}: ProvenanceParts): object {
  const { version, revision, source, builder, epoch } = release;
  const [name = base, digest] = base.split("@sha256:");
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: built.image, digest: { sha256: built.id.replace("sha256:", "") } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://mobyproject.org/buildkit@v1",
        externalParameters: { service, version, base },
        internalParameters: { sourceDateEpoch: epoch },
        resolvedDependencies: [
          { uri: source, digest: { gitCommit: revision } },
          { uri: `docker://${name}`, ...(digest === undefined ? {} : { digest: { sha256: digest } }) },
          { name: "packages", digest: { sha256: createHash("sha256").update(lockfile).digest("hex") } },
        ],
      },
      runDetails: {
        builder: { id: builder },
        metadata: { startedOn: startedAt.toISOString(), finishedOn: finishedAt.toISOString() },
      },
    },
  };
}
