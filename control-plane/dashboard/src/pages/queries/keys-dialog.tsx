/** Dialog with the keyboard shortcuts of the log, and a switch to disable them. */
import { Keyboard } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { IconButton } from '../../ui/controls/button.tsx';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { areKeysOn, ROW_KEYS, rowKeyOf, switchKeys, TAKES_KEYS } from './row-keys.ts';
import type { RowKey } from './row-keys.ts';
import styles from './queries-page.module.css';

/** Handles the shortcuts while the page is shown; the button opens the dialog. */
export function Keys({ onKey }: { readonly onKey: (key: RowKey) => void }): ReactNode {
  const { say } = useText();
  const [isOpen, setOpen] = useState(false);
  const [isOn, setOn] = useState(areKeysOn);
  const act = useRef(onKey);
  act.current = onKey;
  useEffect(() => {
    if (!isOn || isOpen) return undefined;
    const listen = (event: KeyboardEvent): void => {
      const target = event.target as Element;
      const key = rowKeyOf(event, target.closest(TAKES_KEYS) !== null);
      if (key === null) return;
      event.preventDefault();
      act.current(key);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [isOn, isOpen]);
  return (
    <span className={styles['keys']}>
      <IconButton icon={Keyboard} label={say('queries.keys')} onPress={() => setOpen(true)} />
      <Dialog title={say('queries.keys')} isOpen={isOpen} onClose={() => setOpen(false)}>
        <SwitchField
          isSelected={isOn}
          onChange={(chosen) => {
            setOn(chosen);
            switchKeys(chosen);
          }}
        >
          {say('queries.keys.on')}
        </SwitchField>
        <dl className={styles['keyList']}>
          {ROW_KEYS.map(([key, meaning]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{say(`queries.key.${meaning}`)}</dd>
            </div>
          ))}
        </dl>
        <p className="quiet">{say('queries.keys.always')}</p>
      </Dialog>
    </span>
  );
}
