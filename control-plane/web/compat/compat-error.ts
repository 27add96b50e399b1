/** Errors in the form of the compatibility API: a key for programs, a message, and a hint. */
import type { CompatError, Untimed } from '../../../shared/api/compat/compat-api.ts';
import type { ApiError } from '../../api/api-error.ts';
import type { CompatAnswer } from './compat-route.ts';

/** Ends a request with an error of the compatibility API. */
export class CompatFault extends Error {
  readonly status: number;
  readonly key: string;
  readonly hint: string | null;

  constructor(status: number, key: string, message: string, hint: string | null = null) {
    super(message);
    this.name = 'CompatFault';
    this.status = status;
    this.key = key;
    this.hint = hint;
  }
}

/** 404: the path does not exist, or does not support this method. `path` is the path as it was sent. */
export function noSuchPath(path: string): CompatFault {
  return new CompatFault(404, 'not_found', 'Not found', path);
}

/** The response for a fault. */
export function answerOfFault({
  status,
  key,
  message,
  hint,
}: CompatFault): CompatAnswer<Untimed<CompatError>> {
  return { status, body: { error: { key, message, hint } } };
}

/** The response for an error from the rest of Weir. */
export function answerOfError(error: ApiError): CompatAnswer<Untimed<CompatError>> {
  return { ...answerOfFault(faultOf(error)), headers: error.headers };
}

function faultOf({ status, code, message }: ApiError): CompatFault {
  switch (code) {
    case 'unauthorized':
      return new CompatFault(status, 'unauthorized', 'Unauthorized');
    case 'setup_required':
      return new CompatFault(status, 'unauthorized', 'Unauthorized', message);
    case 'locked_out':
      return new CompatFault(status, 'rate_limiting', 'Rate-limiting login attempts', message);
    case 'rate_limited':
      return new CompatFault(status, 'rate_limiting', 'Rate-limiting requests', message);
    case 'internal':
      return new CompatFault(status, 'internal_error', 'Internal server error');
    case 'unavailable':
    case 'outcome_unknown':
      return new CompatFault(status, 'database_error', 'Database not available', message);
    case 'busy':
      return status === 429
        ? new CompatFault(status, 'rate_limiting', 'Rate-limiting login attempts', message)
        : new CompatFault(status, 'database_error', 'Database not available', message);
    case 'cross_origin':
    case 'forbidden':
      return new CompatFault(status, 'forbidden', 'Forbidden', message);
    default:
      return new CompatFault(status, 'bad_request', 'Bad request', message);
  }
}
