/** Proof of identity in a request: a password, or a code of the second factor. */
import type { SecondFactorProof } from '../../../shared/api/auth-api.ts';
import { clientAddress } from '../../api/client-address.ts';
import { authorOf } from '../../api/route.ts';
import type { RouteRequest } from '../../api/route.ts';
import type { Owner, OwnerProof } from './own-second-factor.ts';
import type { GivenCode } from './second-factor/second-factors.ts';

/** The code in a body; null without one. */
export function codeIn(body: {
  readonly totp_code?: string | undefined;
  readonly recovery_code?: string | undefined;
}): GivenCode | null {
  const { totp_code: totp, recovery_code: recovery } = body;
  if (totp !== undefined) return { totp };
  return recovery === undefined ? null : { recovery };
}

/** The proof in a body; the schema allows exactly one. */
export function proofIn(body: SecondFactorProof): OwnerProof {
  return codeIn(body) ?? { password: body.password! };
}

/** The sender of the request and its address. */
export function ownerIn(request: Pick<RouteRequest, 'caller' | 'http' | 'response'>): Owner {
  return { caller: request.caller!, author: authorOf(request), address: clientAddress(request.http) };
}
