/** What people do about their own account: another password, and a second factor. */
import type { ReactNode } from 'react';
import { FactorCard } from './factor-card.tsx';
import { PasswordCard } from './password-card.tsx';

/** The part. */
export default function AccountPart(): ReactNode {
  return (
    <>
      <PasswordCard />
      <FactorCard />
    </>
  );
}
