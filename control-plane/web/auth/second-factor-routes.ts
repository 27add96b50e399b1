/** HTTP routes of `{api}/auth/second-factor`, for the second factor of the calling user. */
import {
  RecoveryCodes,
  SecondFactorEnableBody,
  SecondFactorPrepareBody,
  SecondFactorProof,
  SecondFactorSecret,
  SecondFactorState,
} from '../../../shared/api/auth-api.ts';
import { readOnlyEntity } from '../../api/entity.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Authenticator } from './authenticator.ts';
import { ownerIn, proofIn } from './given-proof.ts';

const PLACE = { access: 'member', tag: 'Authentication' } as const;

const WHO = { 403: 'not permitted; an API token has no second factor' } as const;
const ERRORS = { ...WHO, 401: 'wrong password or code', 429: 'too many concurrent logins' } as const;

const ownFactor = readOnlyEntity({ path: '/auth/second-factor', answer: SecondFactorState });

/** The routes of the second factor. */
export function secondFactorRoutes({ auth }: { auth: Authenticator }): Route[] {
  return [readState(auth), prepare(auth), enable(auth), renewCodes(auth), disable(auth)];
}

function readState(auth: Authenticator): Route {
  return route({
    ...PLACE,
    method: 'GET',
    path: '/auth/second-factor',
    summary: 'Whether a login of the caller also requires a code',
    answer: SecondFactorState,
    entity: ownFactor,
    errors: WHO,
    handle: async ({ caller }) => {
      const { isOn, isPending, recoveryCodesLeft } = await auth.ownSecondFactor.state(caller!);
      return { enabled: isOn, pending: isPending, recovery_codes_left: recoveryCodesLeft };
    },
  });
}

function prepare(auth: Authenticator): Route {
  return route({
    ...PLACE,
    method: 'POST',
    path: '/auth/second-factor',
    summary: 'Create a secret for an authenticator app; it becomes active when the first code is confirmed',
    body: SecondFactorPrepareBody,
    status: 201,
    answer: SecondFactorSecret,
    entity: ownFactor,
    errors: { ...ERRORS, 409: 'the second factor is already enabled' },
    handle: (request) => auth.ownSecondFactor.prepare(ownerIn(request), request.body.password),
  });
}

function enable(auth: Authenticator): Route {
  return route({
    ...PLACE,
    method: 'POST',
    path: '/auth/second-factor/confirm',
    summary: "Enable the second factor by confirming its first code, and end the caller's other sessions",
    body: SecondFactorEnableBody,
    answer: RecoveryCodes,
    errors: { ...ERRORS, 409: 'no secret waits for its first code' },
    handle: async (request) => ({
      recovery_codes: await auth.ownSecondFactor.enable(ownerIn(request), request.body.totp_code),
    }),
  });
}

function renewCodes(auth: Authenticator): Route {
  return route({
    ...PLACE,
    method: 'POST',
    path: '/auth/second-factor/recovery-codes',
    summary: 'Replace the recovery codes of the caller',
    body: SecondFactorProof,
    answer: RecoveryCodes,
    errors: { ...ERRORS, 409: 'the second factor is disabled' },
    handle: async (request) => ({
      recovery_codes: await auth.ownSecondFactor.renewCodes(ownerIn(request), proofIn(request.body)),
    }),
  });
}

function disable(auth: Authenticator): Route {
  return route({
    ...PLACE,
    method: 'POST',
    path: '/auth/second-factor/disable',
    summary: "Disable the caller's second factor, or discard a secret whose first code was not confirmed",
    body: SecondFactorProof,
    errors: { ...ERRORS, 409: 'the caller has no second factor' },
    handle: (request) => auth.ownSecondFactor.disable(ownerIn(request), proofIn(request.body)),
  });
}
