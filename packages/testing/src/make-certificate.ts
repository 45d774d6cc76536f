import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Tells whether this machine has what makeCertificate needs. */
export function canMakeCertificates(): boolean {
  return spawnSync("openssl", ["version"]).status === 0;
}

export interface Certificate {
  /** The key in PEM. */
  readonly key: string;
  /** In PEM, self-signed for localhost and 127.0.0.1: a client has to trust it explicitly. */
  readonly certificate: string;
}

/** A key and a certificate that holds for two days. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-tls-"));
  try {
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        key,
        "-out",
        certificate,
        ...subject,
      ],
      {
        stdio: "ignore",
      },
    );
    return { key: readFileSync(key, "utf8"), certificate: readFileSync(certificate, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
