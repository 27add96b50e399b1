/** Buttons. A button with only an icon has a label for screen readers and a tooltip. */
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import styles from './button.module.css';

/** Importance of the action: the main step of the page, one of several steps, a minor action, or a deletion. */
export type ButtonKind = 'main' | 'plain' | 'quiet' | 'danger';

interface ButtonProps {
  readonly children: ReactNode;
  /** Label that screen readers read instead of the text. It must begin with the text. */
  readonly 'aria-label'?: string;
  readonly 'aria-expanded'?: boolean;
  readonly 'aria-controls'?: string;
  readonly 'aria-current'?: boolean;
  readonly kind?: ButtonKind;
  readonly icon?: LucideIcon;
  readonly onPress?: () => void;
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  /** Whether the action is running. A running action disables the button, which shows the progress. */
  readonly isPending?: boolean;
  readonly slot?: string;
  readonly autoFocus?: boolean;
}

/** A button with text. */
export function Button({ children, kind = 'plain', icon: Icon, ...rest }: ButtonProps): ReactNode {
  return (
    <AriaButton className={`${styles['button']} ${styles[kind]}`} {...rest}>
      {Icon !== undefined && <Icon size={18} aria-hidden />}
      <span className={styles['text']}>{children}</span>
    </AriaButton>
  );
}

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: LucideIcon;
  /** Label for screen readers and tooltip. */
  readonly label: string;
  readonly isPressed?: boolean;
}

/** A button with only an icon. */
export function IconButton({
  icon: Icon,
  label,
  kind = 'quiet',
  isPressed,
  ...rest
}: IconButtonProps): ReactNode {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton
        aria-label={label}
        {...(isPressed !== undefined && { 'aria-pressed': isPressed })}
        className={`${styles['button']} ${styles[kind]} ${styles['iconOnly']}`}
        {...rest}
      >
        <Icon size={18} aria-hidden />
      </AriaButton>
      <Tooltip className={styles['tooltip'] ?? ''} offset={6}>
        {label}
      </Tooltip>
    </TooltipTrigger>
  );
}

interface TextButtonProps {
  readonly children: ReactNode;
  readonly onPress: () => void;
}

/**
 * Text in a row that opens its details. It looks like a link but does not lead to another page, and is large enough for
 * touch.
 */
export function TextButton({ children, onPress }: TextButtonProps): ReactNode {
  return (
    <AriaButton className={styles['asText'] ?? ''} onPress={onPress}>
      {children}
    </AriaButton>
  );
}
