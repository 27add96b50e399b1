/** Menus of actions. */
import { EllipsisVertical, Pencil, Trash2 } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useRef } from 'react';
import type { ReactNode } from 'react';
import { Menu as AriaMenu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { useText } from '../../i18n/text.ts';
import { IconButton } from '../controls/button.tsx';
import styles from './menu.module.css';

export interface MenuAction {
  readonly id: string;
  readonly text: string;
  readonly icon?: LucideIcon;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly run: () => void;
}

interface MenuProps {
  /** The button that opens the menu. */
  readonly button: ReactNode;
  readonly label: string;
  readonly actions: readonly MenuAction[];
}

/** A menu with its button. */
export function Menu({ button, label, actions }: MenuProps): ReactNode {
  return (
    <MenuTrigger>
      {button}
      <Popover className="popover" placement="bottom end">
        <Actions label={label} actions={actions} />
      </Popover>
    </MenuTrigger>
  );
}

interface RowMenuProps {
  /** Name of the row, for screen readers. */
  readonly name: string;
  /** Actions before editing and deleting. */
  readonly more?: readonly MenuAction[];
  readonly onEdit: () => void;
  readonly onDelete: () => void;
  /** Content that is shown beside the menu. */
  readonly children?: ReactNode;
}

/** Actions on a row: edit, delete, and more. */
export function RowMenu({ name, more = [], onEdit, onDelete, children }: RowMenuProps): ReactNode {
  const { say } = useText();
  const label = say('field.actionsOf', { name });
  return (
    <span className={styles['row']}>
      {children}
      <Menu
        label={label}
        button={<IconButton icon={EllipsisVertical} label={label} />}
        actions={[
          ...more,
          { id: 'edit', text: say('action.edit'), icon: Pencil, run: onEdit },
          { id: 'delete', text: say('action.delete'), icon: Trash2, isDanger: true, run: onDelete },
        ]}
      />
    </span>
  );
}

interface MenuAtProps extends Omit<MenuProps, 'button'> {
  /** Element beside which the menu opens; this allows many elements to share one menu. Null if the menu is closed. */
  readonly at: Element | null;
  readonly onClose: () => void;
}

/** A menu beside the clicked element. */
export function MenuAt({ at, label, actions, onClose }: MenuAtProps): ReactNode {
  const place = useRef<Element | null>(null);
  place.current = at;
  return (
    <Popover
      className="popover"
      placement="bottom start"
      triggerRef={place}
      isOpen={at !== null}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
      aria-label={label}
    >
      <Actions label={label} actions={actions} onDone={onClose} />
    </Popover>
  );
}

interface ActionsProps extends Omit<MenuProps, 'button'> {
  readonly onDone?: () => void;
}

function Actions({ label, actions, onDone }: ActionsProps): ReactNode {
  return (
    <AriaMenu
      className={styles['menu'] ?? ''}
      aria-label={label}
      // Set the focus here only without a trigger: a trigger chooses the item that gets the focus, and `false` would
      // override this choice.
      {...(onDone !== undefined && { autoFocus: true })}
      onAction={(key) => {
        actions.find(({ id }) => id === key)?.run();
        onDone?.();
      }}
      disabledKeys={actions.filter(({ isDisabled }) => isDisabled).map(({ id }) => id)}
    >
      {actions.map(({ id, text, icon: Icon, isDanger }) => (
        <MenuItem
          key={id}
          id={id}
          textValue={text}
          className={`${styles['item']} ${isDanger === true ? styles['danger'] : ''}`}
        >
          {Icon !== undefined && <Icon size={18} aria-hidden />}
          {text}
        </MenuItem>
      ))}
    </AriaMenu>
  );
}
