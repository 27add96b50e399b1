/** Error for a list that could not be fetched or used. The message is shown to users as `last_error` of the source. */

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

/** Error: a list currently cannot be used. The message contains no credentials. */
export class ListError extends Error {
  override readonly name = 'ListError';
  readonly code: ListErrorCode;

  constructor(code: ListErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
