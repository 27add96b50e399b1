/** Shows the notices of `api/notices.ts` in a live region. Notices stay while the pointer or the focus is on them. */
import { CircleAlert, CircleCheck, TriangleAlert, X } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { memo } from 'react';
import type { ReactNode } from 'react';
import { Text } from 'react-aria-components/Text';
import {
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';
import { Link } from 'wouter';
import { notices } from '../../api/notices.ts';
import type { Tone } from '../../api/notices.ts';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from '../controls/button.tsx';
import styles from './toasts.module.css';

const ICONS: Readonly<Record<Tone, LucideIcon>> = {
  good: CircleCheck,
  warning: TriangleAlert,
  fault: CircleAlert,
};

/** Notices, above the bar on phones and in the corner on larger screens. */
export const Toasts = memo(function Toasts(): ReactNode {
  const { say } = useText();
  return (
    <ToastRegion queue={notices} className={styles['region'] ?? ''} aria-label={say('notice.region')}>
      {({ toast }) => {
        const { tone, text, action, link } = toast.content;
        const Icon = ICONS[tone];
        const close = (): void => notices.close(toast.key);
        return (
          <Toast toast={toast} className={`${styles['toast']} ${styles[tone]}`}>
            <Icon size={18} aria-hidden />
            <ToastContent className={styles['text'] ?? ''}>
              <Text slot="title">{text}</Text>
            </ToastContent>
            {action !== undefined && (
              <Button
                kind="quiet"
                onPress={() => {
                  close();
                  action.run();
                }}
              >
                {action.text}
              </Button>
            )}
            {link !== undefined && (
              <Link to={link.to} onClick={close}>
                {link.text}
              </Link>
            )}
            <IconButton icon={X} label={say('action.dismiss')} onPress={close} />
          </Toast>
        );
      }}
    </ToastRegion>
  );
});
