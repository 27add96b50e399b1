/**
 * Modal windows: a dialog in the middle of the page, a drawer at its side. On phones, both are sheets at the bottom.
 */
import { X } from 'lucide-react';
import { useDeferredValue } from 'react';
import type { ReactNode } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { useText } from '../../i18n/text.ts';
import { IconButton } from '../controls/button.tsx';
import styles from './dialog.module.css';

interface WindowProps {
  readonly title: ReactNode;
  readonly children: ReactNode;
  /** Buttons at the bottom of the window. */
  readonly actions?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Whether only the buttons close the window, for example if a draft would be lost. */
  readonly isKept?: boolean;
  readonly role?: 'dialog' | 'alertdialog';
}

export function Dialog(props: WindowProps): ReactNode {
  return <Window place="middle" {...props} />;
}

/** A window at the inline end of the page, for the details of a row. */
export function Drawer(props: WindowProps): ReactNode {
  return <Window place="side" {...props} />;
}

function Window(props: WindowProps & { readonly place: 'middle' | 'side' }): ReactNode {
  const { title, children, actions, isOpen, onClose, isKept = false, place, role = 'dialog' } = props;
  const { say } = useText();
  // The window opens at once; its content renders afterwards at a lower priority.
  const isDrawn = useDeferredValue(isOpen, false);
  return (
    <ModalOverlay
      className={`${styles['overlay']} ${styles[place]}`}
      data-place={place}
      isOpen={isOpen && isDrawn}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      isDismissable={!isKept}
      isKeyboardDismissDisabled={isKept}
    >
      <Modal className={styles['window'] ?? ''}>
        <AriaDialog className={styles['dialog'] ?? ''} role={role}>
          <header className={styles['header']}>
            <Heading slot="title" level={2} className={styles['title'] ?? ''}>
              {title}
            </Heading>
            {!isKept && <IconButton icon={X} label={say('action.close')} onPress={onClose} />}
          </header>
          <div className={styles['body']}>{children}</div>
          {actions !== undefined && <footer className={styles['actions']}>{actions}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
