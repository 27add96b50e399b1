/** Reason why a list could not be fetched or used; the message is shown to users as the source's `last_error`. */

/** The kind of failure. */
export type ListErrorCode =
  | 'bad_url'
  | 'refused_host'
  | 'refused_path'
  | 'network'
  | 'timeout'
  | 'http_status'
  | 'redirects'
  | 'bad_encoding'
  | 'too_large'
  | 'not_a_list'
  | 'empty'
  | 'no_rules'
  | 'unreadable'
  | 'disk'
  | 'stopped';

/** A list that cannot be used now. Messages contain no credentials. */
export class ListError extends Error {
  override readonly name = 'ListError';
  readonly code: ListErrorCode;

  constructor(code: ListErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
