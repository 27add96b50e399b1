/** Answers methods that a path does not support: OPTIONS returns the supported methods, all others get 405. */
import type { Request, Response } from 'express';
import { ApiError } from '../../api/api-error.ts';

/** Answers OPTIONS with 204 and `Allow`; throws 405 with `Allow` for every other method. */
export function answerOtherMethods(
  methods: readonly string[],
): (request: Request, response: Response) => void {
  const head = methods.includes('GET') ? ['HEAD'] : [];
  const headers = { Allow: [...methods, ...head, 'OPTIONS'].join(', ') };
  return ({ method }, response) => {
    if (method !== 'OPTIONS')
      throw new ApiError(405, 'method_not_allowed', `method ${method} is not supported for this path`, {
        headers,
      });
    response.status(204).set(headers).end();
  };
}
