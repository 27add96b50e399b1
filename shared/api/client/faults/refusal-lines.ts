/**
 * The lines in which the API refuses requests of callers whose rights are insufficient (403), by code. They are part of
 * the closed set of `fault-lines.ts`.
 */
export const REFUSAL_LINES = {
  // The role of the caller
  viewer_reads: 'the role viewer can only read',
  token_reads: 'this API token has the role viewer and can only read',
  family_limited: 'the role family can only read about its devices and create grants for them',
  family_no_compat: 'users with the role family cannot use this API',
  // Grants and requests to unblock
  grant_permanent: 'only an admin can create a grant without an end time',
  grant_too_long: 'a grant of the role family must end within 36 hours',
  grant_ended_by_admin: 'only an admin can end a grant without an end time',
  client_not_linked: 'the client is not linked to this user',
  address_hidden: 'the address of the device is hidden by this machine or a proxy',
  address_not_allowed: 'this address is not allowed to send queries',
  // Users and logins
  password_set: 'a password is already set; change it with auth/change-password',
  admin_deleted: 'the administrator of the configuration cannot be deleted',
  admin_role: 'the administrator of the configuration cannot have another role',
  admin_disabled: 'the administrator of the configuration cannot be disabled',
  admin_password:
    'the password of the administrator of the configuration can be changed with auth/change-password or `weir set-password`',
  admin_factor:
    'remove the second factor of the administrator with `weir remove-second-factor` on the machine',
  own_factor: 'disable your own second factor with auth/second-factor/disable',
  token_without_factor: 'only users have a second factor: log in to change your own',
  token_without_password: 'an API token has no password: log in to change your own',
  openid_refused: 'the OpenID provider refused the login',
  openid_without_access: 'the login at the OpenID provider succeeded, but this user has no access to Weir',
} as const;

/** Code of a refusal. */
export type RefusalCode = keyof typeof REFUSAL_LINES;
