/** A private key in PEM, also one that is cut off, or escaped in JSON. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g;
/** The password of a URL. */
const URL_PASSWORD = /(:\/\/[^\s/:@"'\\]{0,128}:)[^\s/@"'\\]{1,512}(?=@)/g;
/** What follows the scheme of the header `Authorization`. */
const CREDENTIALS = /\b((?:bearer|basic) {1,4})[A-Za-z0-9._~+/=-]{16,}/gi;
/** What follows the name of a secret, in JSON, in a form or in settings. The quotes may be escaped. */
const NAMED =
  /((?:pass(?:word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)\\{0,4}["']? {0,4}[:=] {0,4}\\{0,4}["']?)([^\s"'\\&,;<>(){}[\]]{6,})/gi;

const MASKED = "[a secret]";

/** A text without what its surroundings say is a secret, such as the value of a field `password`. */
export const maskNamedSecrets = (text: string): string =>
  text
    .replace(PRIVATE_KEY, MASKED)
    .replace(URL_PASSWORD, `$1${MASKED}`)
    .replace(CREDENTIALS, `$1${MASKED}`)
    .replace(NAMED, `$1${MASKED}`);
