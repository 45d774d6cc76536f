import { createHash } from "node:crypto";
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { PackageURL } from "packageurl-js";
import parseExpression from "spdx-expression-parse";
import type { BundledPackage } from "./bundled-packages.ts";

export interface BillOptions {
  readonly service: string;
  readonly version: string;
  readonly packages: readonly BundledPackage[];
  /** What the image has besides the bundle; none for a bundle alone. */
  readonly system?: readonly SystemPackage[];
}

/** Node itself, or a package of the base image's distribution. */
export interface SystemPackage {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

const licenses = new Contrib.License.Factories.LicenseFactory(parseExpression);

/**
 * The bill of materials of a service, in CycloneDX 1.6: each package that its bundle holds something of, with the hash
 * that the lockfile has, and what else the image runs on. The same input gives the same bytes: it holds no time, and
 * its serial number follows from its contents.
 */
export function billOfMaterials({ service, version, packages, system = [] }: BillOptions): string {
  const { Component } = Models;
  const main = new Component(Enums.ComponentType.Application, service, {
    group: "rockbot",
    version,
    bomRef: `rockbot/${service}`,
  });
  main.licenses.add(licenses.makeFromString("Apache-2.0"));
  const components = [...packages.map(ofRegistry), ...system.map(ofSystem)];
  for (const { bomRef } of components) main.dependencies.add(bomRef);
  const bom = new Models.Bom({ components: new Models.ComponentRepository(components) });
  bom.metadata.component = main;
  bom.serialNumber = `urn:uuid:${uuidOf([service, version, ...components.map(({ purl }) => purl ?? "").sort()].join("\n"))}`;
  const normal = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(normal).serialize(bom, { sortLists: true, space: 1 })}\n`;
}

function ofRegistry({ name, version, license, integrity }: BundledPackage): Models.Component {
  const [group, plain] = name.startsWith("@") ? (name.split("/") as [string, string]) : [undefined, name];
  const purl = new PackageURL("npm", group, plain, version, undefined, undefined).toString();
  const component = new Models.Component(Enums.ComponentType.Library, plain, { group, version, purl, bomRef: purl });
  const [, sha512] = /^sha512-([\w+/]+=*)$/.exec(integrity) ?? [];
  if (sha512 !== undefined)
    component.hashes.set(Enums.HashAlgorithm["SHA-512"], Buffer.from(sha512, "base64").toString("hex"));
  if (license !== undefined) component.licenses.add(licenses.makeFromString(license));
  return component;
}

function ofSystem({ name, version, purl }: SystemPackage): Models.Component {
  return new Models.Component(Enums.ComponentType.Library, name, { version, purl, bomRef: purl });
}

/** A UUID of version 8, which is free for its maker to choose, from the hash of a text. */
function uuidOf(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex");
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
