/** The icon of a service; without its own, that of its kind. */
import { Bot, Gamepad2, MessageCircle, MonitorPlay, Users } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { kindOf } from '../policy/popular-services.ts';
import type { ServiceKind } from '../policy/popular-services.ts';
import type { Service } from '../policy/service-blocks.ts';
import styles from './service-icon.module.css';

const ICONS: Readonly<Record<ServiceKind, LucideIcon>> = {
  video: MonitorPlay,
  social: Users,
  chat: MessageCircle,
  games: Gamepad2,
  ai: Bot,
};
const SIZE = 18;

export function ServiceIcon({ service }: { readonly service: Service }): ReactNode {
  if (service.icon !== null)
    return (
      <img className={styles['icon']} src={service.icon} alt="" width={SIZE} height={SIZE} loading="lazy" />
    );
  const Icon = ICONS[kindOf(service)];
  return <Icon size={SIZE} aria-hidden />;
}
