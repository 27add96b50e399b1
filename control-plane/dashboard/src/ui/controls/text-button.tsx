/** A text in a row that opens its details: looks like a link, stays on the page. */
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components/Button';
import styles from './text-button.module.css';

interface TextButtonProps {
  readonly children: ReactNode;
  readonly onPress: () => void;
}

/** The text; as high as a finger needs. */
export function TextButton({ children, onPress }: TextButtonProps): ReactNode {
  return (
    <Button className={styles['button'] ?? ''} onPress={onPress}>
      {children}
    </Button>
  );
}
