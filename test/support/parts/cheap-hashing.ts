/** Password hashes that take 0.2 ms instead of 100: most tests only need a user who can log in. */
import { hashPassword, type PasswordHashing } from '../../../control-plane/web/auth/accounts/password.ts';

/** The administrator's password in most tests. */
export const PASSWORD = 'correct horse battery';
/** Hash of that password. */
export const PASSWORD_HASH =
  '$argon2id$v=19$m=64,p=1,t=1$fGnzXwd37n9p0sLKHS/c1A$RiZVKqwUVa5l8U7P0MFf9nM7WdXYQdM356Z+d8uCdV8';

/** Hashing that takes 0.2 ms. */
export const CHEAP_HASHING: PasswordHashing = {
  hash: (password) => hashPassword(password, { memoryCost: 64, timeCost: 1, parallelism: 1 }),
  decoy: PASSWORD_HASH,
};
