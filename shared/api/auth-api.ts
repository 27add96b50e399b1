/** Requests and answers of `{api}/auth/*`. */
import { z } from 'zod';
import { Id, label, text, Timestamp } from './fields.ts';

/** Who may do what: a viewer reads, an admin changes. */
export const Role = z.enum(['admin', 'viewer']);
export type Role = z.infer<typeof Role>;

export const AuthStatus = z
  .strictObject({
    enabled: z.boolean(),
    password_configured: z.boolean(),
    setup_required: z.boolean().meta({ description: 'authentication is on and no password is set yet' }),
  })
  .meta({ id: 'AuthStatus' });
export type AuthStatus = z.infer<typeof AuthStatus>;

/** A password as it is set; 8..256 characters (UTF-16 units). */
export const NewPassword = z
  .string()
  .min(8)
  .max(256)
  .refine((value) => value.isWellFormed(), 'expected well-formed Unicode');
/** A password as it is tried; longer than any that can be set is refused before it costs a hash. */
const TriedPassword = z.string().min(1).max(1024);

export const SetupBody = z
  .strictObject({
    password: NewPassword,
    setup_code: text(64)
      .optional()
      .meta({ description: 'printed at the start; not needed on the machine itself' }),
  })
  .meta({ id: 'SetupRequest' });
export type SetupBody = z.output<typeof SetupBody>;

export const LoginBody = z
  .strictObject({
    username: label(128),
    password: TriedPassword,
    remember_me: z.boolean().default(false),
  })
  .meta({ id: 'LoginRequest' });
export type LoginBody = z.output<typeof LoginBody>;

export const LoginAnswer = z
  .strictObject({ username: z.string(), role: Role, expires_at: Timestamp })
  .meta({ id: 'Login' });
export type LoginAnswer = z.infer<typeof LoginAnswer>;

export const ChangePasswordBody = z
  .strictObject({ current_password: TriedPassword, new_password: NewPassword })
  .meta({ id: 'ChangePasswordRequest' });
export type ChangePasswordBody = z.output<typeof ChangePasswordBody>;

export const Session = z
  .strictObject({
    id: Id,
    username: z.string(),
    role: Role,
    ip_address: z.string(),
    user_agent: text(512).nullable(),
    remember_me: z.boolean(),
    created_at: Timestamp,
    last_seen_at: Timestamp,
    expires_at: Timestamp,
    current: z.boolean().meta({ description: 'the session of this very request' }),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;
export const SessionList = z.array(Session);
