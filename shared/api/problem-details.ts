/** Format of all error responses: problem details (RFC 9457) with additional members. */
import { z } from 'zod';

/**
 * Machine-readable codes of errors. They are stable, unlike the texts. `unavailable` means that the database is
 * unavailable; for any other dependency, the code is `dependency_unavailable` and `detail` names the dependency.
 */
export const PROBLEM_CODES = [
  'invalid',
  'malformed',
  'unauthorized',
  'setup_required',
  'second_factor_required',
  'second_factor_wrong',
  'second_factor_used',
  'forbidden',
  'cross_origin',
  'setup_code_required',
  'misdirected',
  'not_found',
  'method_not_allowed',
  'conflict',
  'upstream_silent',
  'precondition_failed',
  'too_large',
  'timeout',
  'unsupported_media_type',
  'upgrade_refused',
  'locked_out',
  'rate_limited',
  'busy',
  'unavailable',
  'dependency_unavailable',
  'not_in_force',
  'outcome_unknown',
  'internal',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

/** Dependencies of responses, except the database. */
export const DEPENDENCIES = [
  'openid_provider',
  'dns_thread',
  'list_copy',
  'compiled_names',
  'running_node',
] as const;
export type Dependency = (typeof DEPENDENCIES)[number];
/** Codes of a 401. */
export type UnauthorizedCode = Extract<
  ProblemCode,
  'unauthorized' | 'setup_required' | `second_factor_${string}`
>;
/** Codes of a 429. */
export type TooManyCode = Extract<ProblemCode, 'locked_out' | 'rate_limited' | 'busy'>;

/** One invalid field of a request; `path` is dotted (`group_ids.0`), empty for the whole body. */
export const FieldProblem = z.strictObject({ path: z.string(), message: z.string() });
export type FieldProblem = z.infer<typeof FieldProblem>;

/** Body of every error response, `application/problem+json`. */
export const Problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    error: z.enum(PROBLEM_CODES),
    errors: z.array(FieldProblem).optional(),
    /** For `dependency_unavailable`: the unavailable dependency; absent if only the detail names it. */
    dependency: z.enum(DEPENDENCIES).optional(),
    /** For `not_in_force`: the change was stored, so that repeating it would store it twice. */
    stored: z.literal(true).optional(),
    /** For `not_in_force`: the id of the revision that the change created; absent if it created none. */
    revision: z.int().optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;
