/** Serves files from memory: selects the content coding, and answers 304 if the ETag matches. */
import type { Request, Response } from 'express';
import type { BuildFile } from '../built-dashboard/open-build.ts';
import type { Form } from '../built-dashboard/build-manifest.ts';

/** A file with its caching rules for browsers. */
export interface KeptFile extends Omit<BuildFile, 'path'> {
  readonly cacheControl: string;
  /** Additional header fields of the response. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Cache-Control of a file whose name changes with its content. */
export const KEEP_FOR_EVER = 'public, max-age=31536000, immutable';
/** Browsers cache the file, but revalidate it before each use. */
export const ASK_FIRST = 'no-cache';

/** Answers GET and HEAD with the file, or with 304. A status other than 200 must be set before. */
export function sendKeptFile(request: Request, response: Response, file: KeptFile): void {
  const form = acceptedForm(request.headers['accept-encoding'], file.forms);
  const bytes = file.forms[form] ?? file.forms.identity;
  // Each form has its own ETag (RFC 9110 section 8.8.1).
  const etag = `"${file.sha256.slice(0, 32)}-${form}"`;
  response.set({ ...file.fields, 'Cache-Control': file.cacheControl, ETag: etag, Vary: 'Accept-Encoding' });
  if (response.statusCode === 200 && namesTag(request.headers['if-none-match'], etag)) {
    response.status(304).end();
    return;
  }
  response.set({ 'Content-Type': file.type, 'Content-Length': String(bytes.length) });
  if (form !== 'identity') response.set('Content-Encoding', form);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Whether If-None-Match names the tag, by the weak comparison (RFC 9110 section 13.1.2). */
function namesTag(field: string | undefined, etag: string): boolean {
  if (field === undefined) return false;
  return field.trim() === '*' || field.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** Best first. */
const FORMS: readonly Form[] = ['br', 'gzip', 'identity'];
/** Maximum number of members of the field that are evaluated; browsers send five. */
const MAX_MEMBERS = 32;

/** The best form in `available` that the field accepts; identity if it accepts none. */
export function acceptedForm(
  field: string | undefined,
  available: Readonly<Partial<Record<Form, unknown>>>,
): Form {
  if (field === undefined) return 'identity';
  const accepted = new Map(field.split(',', MAX_MEMBERS).map(readMember));
  const accepts = (form: Form): boolean =>
    accepted.get(form) ??
    (form === 'gzip' ? accepted.get('x-gzip') : undefined) ??
    accepted.get('*') ??
    false;
  return FORMS.find((form) => available[form] !== undefined && accepts(form)) ?? 'identity';
}

/** The coding, and whether its weight is greater than 0. */
function readMember(member: string): [string, boolean] {
  const [coding = '', ...parameters] = member.split(';', 4).map((part) => part.trim().toLowerCase());
  return [coding, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))];
}
