/**
 * Fetches one list, from a web server or from a directory on this machine, to a new file. Checks only that the list is
 * text of acceptable size, not its lines. Every failure is a ListError with a message for users.
 */
import type { FetchLimits } from './fetch-limits.ts';
import { FETCH_LIMITS } from './fetch-limits.ts';
import type { Validators } from './fetch-http.ts';
import { asListError, requestList } from './fetch-http.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { ListError } from './list-error.ts';
import type { FetchBounds, Lookup } from './list-host.ts';
import { lookupBySystem } from './list-host.ts';
import { openListFile } from './open-list-file.ts';
import { storeBody } from './store-body.ts';

/** A list to fetch. */
export interface ListRequest {
  readonly url: string;
  /** Validators of the stored copy; null values if there is no copy. */
  readonly validators: Validators;
  /** File to create, gzip-compressed. After a failure it may exist, and the caller must remove it. */
  readonly path: string;
  /** Directories from which `file:` URLs can read. */
  readonly listDirs: readonly string[];
  /** Addresses from which a list may be fetched. */
  readonly bounds: FetchBounds;
  readonly signal: AbortSignal;
  readonly limits?: FetchLimits;
  readonly lookup?: Lookup;
}

/** Outcome of a fetch. */
export type FetchOutcome =
  | { readonly type: 'unchanged' }
  | {
      readonly type: 'fetched';
      /** Size of the text in bytes. */
      readonly bytes: number;
      /** SHA-256 of the text, hexadecimal. */
      readonly digest: string;
      readonly validators: Validators;
    };

const UNCHANGED: FetchOutcome = { type: 'unchanged' };

/** Fetches a list; throws a ListError. */
export async function fetchList(request: ListRequest): Promise<FetchOutcome> {
  if (!URL.canParse(request.url))
    throw new ListError('bad_url', `could not fetch the list: ${shownUrl(request.url)} is not a URL`);
  const url = new URL(request.url);
  const limits = request.limits ?? FETCH_LIMITS;
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(
      new ListError(
        'timeout',
        `could not fetch ${shownUrl(url.href)}: not finished after ${limits.totalMs} ms`,
      ),
    );
  }, limits.totalMs);
  const signal = AbortSignal.any([request.signal, deadline.signal]);
  try {
    if (url.protocol === 'file:') return await fetchFile(url, request, limits, signal);
    if (url.protocol === 'http:' || url.protocol === 'https:')
      return await fetchWeb(url, request, limits, signal);
    throw new ListError(
      'bad_url',
      `could not fetch ${url.protocol} URL: lists are fetched over http, https and file only`,
    );
  } catch (error) {
    if (request.signal.aborted)
      throw new ListError('stopped', `could not fetch ${shownUrl(url.href)}: stopped`, error);
    throw asListError(error, url, signal);
  } finally {
    clearTimeout(timer);
  }
}

async function fetchWeb(
  url: URL,
  request: ListRequest,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<FetchOutcome> {
  const ways = { limits, signal, bounds: request.bounds, lookup: request.lookup ?? lookupBySystem };
  const response = await requestList(url, request.validators, ways);
  try {
    if (response.statusCode === 304) return UNCHANGED;
    const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    const isEncoded = encoding === 'gzip' || encoding === 'x-gzip';
    if (!isEncoded && encoding !== 'identity')
      throw new ListError(
        'bad_encoding',
        `could not fetch ${shownUrl(url.href)}: encoding "${encoding}" was not requested`,
      );
    const reading = { shown: shownUrl(url.href), isEncoded, path: request.path, limits, signal };
    const stored = await storeBody(response as AsyncIterable<Buffer>, reading);
    const { etag, 'last-modified': lastModified } = response.headers;
    return {
      type: 'fetched',
      ...stored,
      validators: { etag: etag ?? null, lastModified: lastModified ?? null },
    };
  } finally {
    response.destroy();
  }
}

async function fetchFile(
  url: URL,
  request: ListRequest,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<FetchOutcome> {
  const { file, etag } = await openListFile(url, request.listDirs);
  try {
    if (etag === request.validators.etag) return UNCHANGED;
    const reading = { shown: url.pathname, isEncoded: false, path: request.path, limits, signal };
    const stored = await storeBody(
      file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>,
      reading,
    );
    return { type: 'fetched', ...stored, validators: { etag, lastModified: null } };
  } finally {
    await file.close();
  }
}
