/** Requests and responses of `{api}/auth/*`. */
import { z } from 'zod';
import { former, Id, label, text, Timestamp } from './fields.ts';

/**
 * Roles and their permissions: a viewer only reads, a family user pauses and unblocks the devices that are linked to
 * the user, an admin changes everything.
 */
export const Role = z.enum(['admin', 'family', 'viewer']);
export type Role = z.infer<typeof Role>;

/** Roles of API tokens, which have no devices. */
export const TokenRole = z.enum(['admin', 'viewer']);
export type TokenRole = z.infer<typeof TokenRole>;

export const LoginAnswer = z
  .strictObject({ username: z.string(), role: Role, expires_at: Timestamp })
  .meta({ id: 'Login' });
export type LoginAnswer = z.infer<typeof LoginAnswer>;

export const AuthStatus = z
  .strictObject({
    enabled: z.boolean(),
    password_configured: z.boolean().nullable().meta({
      description: 'whether an administrator password is set; null while the database is unavailable',
    }),
    setup_required: z.boolean().nullable().meta({
      description:
        'authentication is enabled and no password is set yet; null while the database is unavailable',
    }),
    setup_code_file: z
      .string()
      .nullable()
      .meta({
        description:
          'file with the code that POST /auth/setup requires from this client, on the machine of the node; null ' +
          'if no code is required',
        examples: ['/var/lib/weir/setup-code'],
      }),
    session: LoginAnswer.nullable().meta({
      description:
        'the session of the request; null if the request has none, the session has ended, authentication is ' +
        'disabled, or the database is unavailable',
    }),
  })
  .meta({ id: 'AuthStatus' });
export type AuthStatus = z.infer<typeof AuthStatus>;

/** Number of characters in a password. An emoji is one character, although its JavaScript `length` is 2. */
export const lengthOf = (password: string): number => Array.from(password).length;
/** Minimum length of a new password, in characters. */
export const MIN_PASSWORD_LENGTH = 8;

/** A new password: 8 characters to 256 UTF-16 units. */
export const NewPassword = z
  .string()
  .min(MIN_PASSWORD_LENGTH, { abort: true })
  .max(256)
  .refine(
    (value) => lengthOf(value) >= MIN_PASSWORD_LENGTH,
    `expected at least ${MIN_PASSWORD_LENGTH} characters`,
  )
  .refine((value) => value.isWellFormed(), 'expected well-formed Unicode');
/** A password at login. The limit refuses overlong passwords before they cost a hash. */
const TriedPassword = z.string().min(1).max(1024);

export const SetupBody = z
  .strictObject({
    password: NewPassword,
    setup_code: text(64)
      .optional()
      .meta({
        description:
          'the code in the log of the server and in the file `setup_code_file`; not required from the machine ' +
          'that runs the node',
      }),
  })
  .meta({ id: 'SetupRequest' });
export type SetupBody = z.output<typeof SetupBody>;

/** A code of an authenticator app. Spaces are accepted, because apps show codes with them. */
const TotpCode = z
  .string()
  .regex(/^\d{3} ?\d{3}$/, 'expected six digits')
  .meta({ description: 'six digits from an authenticator app', examples: ['123456'] });
const RecoveryCode = text(64)
  .min(1)
  .meta({ description: 'one of the recovery codes of the user; each is accepted once' });

export const LoginBody = z
  .strictObject({
    username: label(128),
    password: TriedPassword,
    remember_me: z.boolean().default(false),
    totp_code: TotpCode.optional(),
    recovery_code: RecoveryCode.optional(),
  })
  .meta({ id: 'LoginRequest' });
export type LoginBody = z.output<typeof LoginBody>;

export const ChangePasswordBody = z
  .strictObject({ current_password: TriedPassword, new_password: NewPassword })
  .meta({ id: 'ChangePasswordRequest' });
export type ChangePasswordBody = z.output<typeof ChangePasswordBody>;

/** Proof of identity before a user changes the second factor: exactly one of these fields. */
export const SecondFactorProof = z
  .strictObject({
    password: TriedPassword.optional(),
    totp_code: TotpCode.optional(),
    recovery_code: RecoveryCode.optional(),
  })
  .refine((proof) => Object.values(proof).filter((value) => value !== undefined).length === 1, {
    message: 'expected one of password, totp_code and recovery_code',
  })
  .meta({ id: 'SecondFactorProof', examples: [{ password: 'correct horse battery' }] });
export type SecondFactorProof = z.output<typeof SecondFactorProof>;

export const SecondFactorPrepareBody = z
  .strictObject({ password: TriedPassword })
  .meta({ id: 'SecondFactorPrepare' });

export const SecondFactorEnableBody = z
  .strictObject({ totp_code: TotpCode })
  .meta({ id: 'SecondFactorEnable' });

export const SecondFactorState = z
  .strictObject({
    enabled: z.boolean(),
    pending: z
      .boolean()
      .meta({ description: 'a secret was created, but its first code has not been entered yet' }),
    recovery_codes_left: z.int().min(0),
  })
  .meta({ id: 'SecondFactorState' });
export type SecondFactorState = z.infer<typeof SecondFactorState>;

export const SecondFactorSecret = z
  .strictObject({
    secret: z.string().meta({
      description: 'secret in Base32, to enter in an authenticator app; contained only in this response',
    }),
    uri: z.string().meta({ description: 'otpauth URL with the same secret, to show as a QR code' }),
  })
  .meta({ id: 'SecondFactorSecret' });
export type SecondFactorSecret = z.infer<typeof SecondFactorSecret>;

export const RecoveryCodes = z
  .strictObject({
    recovery_codes: z.array(z.string()).meta({
      description: 'codes for a user who has lost the authenticator app; contained only in this response',
    }),
  })
  .meta({ id: 'RecoveryCodes' });
export type RecoveryCodes = z.infer<typeof RecoveryCodes>;

export const Session = z
  .strictObject({
    id: Id,
    username: z.string(),
    role: Role,
    ip_address: z.string(),
    user_agent: text(512).nullable(),
    remember_me: z.boolean(),
    created_at: Timestamp,
    last_seen: Timestamp,
    last_seen_at: former(Timestamp, 'last_seen'),
    expires_at: Timestamp,
    current: z.boolean().meta({ description: 'whether it is the session of this request' }),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;
export const SessionList = z.array(Session);

/** Query parameters of the path that starts a login at an OpenID provider. */
export const OidcStartQuery = z.strictObject({
  /** Path of this server to open after the login. */
  return_to: z.string().default('/'),
  remember_me: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
});

/** State of a login at an OpenID provider, which the browser keeps until the login ends. */
export const OidcAttempt = z.strictObject({
  state: z.string().min(20),
  nonce: z.string().min(20),
  verifier: z.string().min(43),
  /** Path on this server to open after the login. */
  returnTo: z.string(),
  rememberMe: z.boolean(),
  startedMs: z.number(),
});
export type OidcAttempt = z.infer<typeof OidcAttempt>;
