import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { pinImages, readImages } from "./pinned-images.ts";

const root = dirname(dirname(import.meta.dirname));
const read = (file: string) => readFile(join(root, file), "utf8");
const digest = `sha256:${"0".repeat(64)}`;

test("every image of others that the Dockerfiles, compose and the chart name is that of docker/images.env", async () => {
  const images = Object.entries(readImages(await read("docker/images.env"))).map(([name, image]) => [name, image.replace(/@.*/, "")]);
  const compose = await read("docker-compose.yml");
  const defaults = (await Promise.all(["Dockerfile", "Dockerfile.sandbox"].map(read))).flatMap((text) => [...text.matchAll(/^ARG (\w+_IMAGE)=(\S+)$/gm)]);
  const variables = [...compose.matchAll(/\$\{(ROCKBOT_\w+_IMAGE):-([^}]+)\}/g)];
  const named = [...defaults, ...variables].map(([, name, image]) => [name, image]);
  expect(images).toEqual(expect.arrayContaining(named));
  expect(named).toEqual(expect.arrayContaining(images));
  expect(compose.match(/^ +image: (?!rockbot\/|\$\{|\*).*/gm)).toBeNull();

  const { broker, redis } = parse(await read("helm/rockbot/values.yaml")) as Record<string, { image: { repository: string; tag: string } }>;
  const charted = [broker, redis].map((part) => `${part?.image.repository}:${part?.image.tag}`);
  expect(images.map(([, image]) => image)).toEqual(expect.arrayContaining(charted));
});

test("pinning puts each image's digest of now in the place of an earlier one, and a line that is no image is named", async () => {
  const asked: string[] = [];
  const digestOf = async (image: string) => {
    asked.push(image);
    return digest;
  };
  const pinned = await pinImages(`# A comment.\nNODE_IMAGE=node:24-bookworm-slim\nREDIS=redis:8@sha256:${"1".repeat(64)}\n`, digestOf);
  expect(pinned).toBe(`# A comment.\nNODE_IMAGE=node:24-bookworm-slim@${digest}\nREDIS=redis:8@${digest}\n`);
  expect(asked).toEqual(["node:24-bookworm-slim", "redis:8"]);
  expect(readImages(pinned)["REDIS"]).toBe(`redis:8@${digest}`);
  await expect(pinImages("REDIS=redis:8", async () => "no such manifest")).rejects.toThrow("no digest");
  expect(() => readImages("REDIS=redis:8@sha256:short")).toThrow("REDIS=redis:8@sha256:short");
});
