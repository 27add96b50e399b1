/**
 * Masks secrets in the audit log, by the name of a field and by the form of a text. Callers never record secrets
 * deliberately; this module masks secrets that are part of rows and URLs.
 */
import { shownUrl } from '../../../shared/net/shown-url.ts';

const MASK = '***';
/** Names of fields that contain secrets. */
const SECRET_FIELD =
  /passw|passphrase|secret|totp|otpauth|cookie|credential|private_?key|api_?key|(?:^|_)(?:token|hash|salt|pin)$/i;
/** Texts that are always secret: password hashes and private keys. */
const SECRET_TEXT = /\$argon2|\$2[abxy]\$|\$(?:5|6|y)\$|-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const URL_START = /^\s*[a-z][a-z0-9+.-]*:[/\\]/i;

/** A copy of JSON data without secrets. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return maskedText(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  const shown = Object.entries(value).map(([name, field]): [string, unknown] => [
    name,
    SECRET_FIELD.test(name) && hides(field) ? MASK : withoutSecrets(field),
  ]);
  return Object.fromEntries(shown);
}

/**
 * Whether the value of a secret field must be masked. Numbers and booleans, such as `token_id` and
 * `password_configured`, are never secret.
 */
function hides(field: unknown): boolean {
  return typeof field === 'string' ? field !== '' : typeof field === 'object' && field !== null;
}

function maskedText(text: string): string {
  if (SECRET_TEXT.test(text)) return MASK;
  return URL_START.test(text) ? shownUrl(text) : text;
}
