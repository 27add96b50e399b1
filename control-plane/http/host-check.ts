/** Requires of every request the one Host field that RFC 9112 section 3.2 asks for. */
import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../api-error.ts';

/** Throws 400 where there is no Host, or more than one. */
export function checkHost(request: Request, _response: Response, next: NextFunction): void {
  const { host: hosts = [] } = request.headersDistinct;
  if (hosts.length !== 1 || hosts[0] === '')
    throw new ApiError(400, 'malformed', 'expected one Host header field');
  next();
}
