/**
 * The body of a request to the compatibility API: JSON, whatever its Content-Type, because clients send it as a form or
 * as text. The body may contain the secret of a session, also as a form.
 */
import type { GivenCode } from '../auth/second-factor/second-factors.ts';
import { CompatFault } from './compat-error.ts';

/** Maximum size of a body. */
export const BODY_LIMIT_BYTES = 16 * 1024;

/** The password in a body. @throws {CompatFault} 400 */
export function passwordIn(body: Buffer): string {
  const password = memberOf(parse(body), 'password');
  if (password === undefined) throw badRequest('No password found in JSON payload');
  if (typeof password !== 'string') throw badRequest("Field password has to be of type 'string'");
  return password;
}

/** The code of a second factor in a body, as a number without its leading zeros or a string; null without one. */
export function codeIn(body: Buffer): GivenCode | null {
  const totp = memberOf(jsonOrUndefined(body), 'totp');
  if (typeof totp === 'number') return { totp: String(totp).padStart(6, '0') };
  if (typeof totp !== 'string' || totp === '') return null;
  return /^[0-9 ]+$/.test(totp) ? { totp } : { recovery: totp };
}

/** The secret of a session in a body; undefined without one. */
export function sidIn(body: Buffer): string | undefined {
  if (body.length === 0) return undefined;
  const sid = memberOf(jsonOrUndefined(body), 'sid') ?? new URLSearchParams(body.toString()).get('sid');
  return typeof sid === 'string' ? sid : undefined;
}

function parse(body: Buffer): unknown {
  if (body.length === 0) throw badRequest('No request body data');
  const text = body.toString();
  try {
    return JSON.parse(text);
  } catch (error) {
    const [, at = '0'] = /at position (\d+)/.exec(String(error)) ?? [];
    // Unlike FTL's, the hint does not contain the text, which may include a password.
    throw badRequest('Invalid request body data (no valid JSON), error at hint', `position ${at}`);
  }
}

function jsonOrUndefined(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** A member of an object, excluding inherited members. */
function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isObject ? (value as Record<string, unknown>)[name] : undefined;
}

function badRequest(message: string, hint: string | null = null): CompatFault {
  return new CompatFault(400, 'bad_request', message, hint);
}
