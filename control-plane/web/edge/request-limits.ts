/** The limit of all requests of a client network to the web server, regardless of path and user. */
import type { NextFunction, Request, Response } from 'express';
import { clientAddress } from '../../api/client-address.ts';
import { isLocal } from '../../api/local-requests.ts';
import type { RequestLimit, RequestRate } from '../../api/request-limit.ts';

/**
 * Of one client network. A page with all that it loads and asks is some 100 requests, and people reopen ten of them at
 * once; a tab that polls asks twice a second, twenty panels of Grafana four times, a program that copies settings 50
 * times. What is left costs the control plane a tenth of a core at most, as a usual request takes it a millisecond.
 */
export const WEB_RATE: RequestRate = { perSecond: 100, burst: 1000 };

/** Throws 429 beyond the limit. What comes over the local socket is not counted. */
export function limitRequests(limit: RequestLimit) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    if (!isLocal(request)) limit.spend(clientAddress(request));
    next();
  };
}
