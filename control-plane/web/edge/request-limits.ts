/** The limit on all requests of a client network to the web server, regardless of path and user. */
import type { NextFunction, Request, Response } from 'express';
import { clientAddress } from '../../api/client-address.ts';
import { isLocal } from '../../api/local-requests.ts';
import type { RequestLimit, RequestRate } from '../../api/request-limit.ts';

/**
 * Rate for one client network. Opening a page takes about 100 requests, and people may reopen ten pages at a time; a
 * tab that polls sends two requests per second, twenty Grafana panels four, a program that copies settings 50. This
 * rate costs the control plane at most a tenth of a core, because a usual request takes a millisecond.
 */
export const WEB_RATE: RequestRate = { perSecond: 100, burst: 1000 };

/** Throws 429 beyond the limit. Requests over the local socket are not counted. */
export function limitRequests(limit: RequestLimit) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    if (!isLocal(request)) limit.spend(clientAddress(request));
    next();
  };
}
