/** Another password for the own account. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { useMe } from '../../../api/session.tsx';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { isSettable, NO_PASSWORD } from '../../../ui/controls/new-password.ts';
import { NewPasswordFields } from '../../../ui/controls/new-password-fields.tsx';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';
import styles from './account.module.css';
import { OwnPassword } from './own-password.tsx';

/** The card. */
export function PasswordCard(): ReactNode {
  const { say } = useText();
  const { username } = useMe();
  const [current, setCurrent] = useState('');
  const [typed, setTyped] = useState(NO_PASSWORD);
  const change = useChange('POST /auth/change-password', {
    done: 'account.password.changed',
    quiet: true,
    onDone: () => {
      setCurrent('');
      setTyped(NO_PASSWORD);
    },
  });
  return (
    <Card title={say('field.password')}>
      <Form
        className={styles['form'] ?? ''}
        onSubmit={(event) => {
          event.preventDefault();
          if (isSettable(typed))
            void change.run({ body: { current_password: current, new_password: typed.password } });
        }}
      >
        <Stack>
          <input type="hidden" name="username" autoComplete="username" value={username ?? ''} />
          <OwnPassword value={current} onChange={setCurrent} failure={change.failure} />
          <NewPasswordFields
            label={say('settings.user.newPassword')}
            help={say('account.password.help')}
            value={typed}
            onChange={setTyped}
          />
          <Bar>
            <Button kind="main" type="submit" isPending={change.isPending}>
              {say('account.password.change')}
            </Button>
          </Bar>
        </Stack>
      </Form>
    </Card>
  );
}
