/** Button that gives a device a random client key, which replaces any existing key. */
import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { newClientKey } from './new-client-key.ts';

export function NewKeyButton({ id }: { readonly id: number }): ReactNode {
  const { say } = useText();
  const change = useChange('PATCH /clients/{id}', { done: 'phone.keyCreated' });
  return (
    <Button
      icon={KeyRound}
      isPending={change.isPending}
      onPress={() => void change.run({ params: { id }, body: { client_key: newClientKey() } })}
    >
      {say('phone.createKey')}
    </Button>
  );
}
