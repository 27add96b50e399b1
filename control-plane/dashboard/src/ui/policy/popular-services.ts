/** Order of services: services that most children use come first. */

/** Services that come first among popular services; all others follow by name. */
const FIRST = [
  ...['youtube', 'tiktok', 'instagram', 'snapchat', 'whatsapp', 'discord', 'roblox', 'minecraft', 'fortnite'],
  ...['twitch', 'netflix', 'steam', 'facebook', 'messenger', 'telegram', 'reddit', 'pinterest', 'twitter'],
];

interface Ranked {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly category: string;
  readonly isCustom: boolean;
}

/** Whether a service is popular. */
export function isPopular({ tags }: Pick<Ranked, 'tags'>): boolean {
  return tags.includes('popular');
}

/** Compares services for sorting: custom services first, then popular services, then all others by name. */
export function byPopularity(one: Ranked, other: Ranked): number {
  return rankOf(one) - rankOf(other) || one.name.localeCompare(other.name);
}

function rankOf(service: Ranked): number {
  if (service.isCustom) return 0;
  if (!isPopular(service)) return 1000;
  const place = FIRST.indexOf(service.id);
  return place === -1 ? 100 : 1 + place;
}

/** Kinds of popular services, named as parents would name them. */
export const SERVICE_KINDS = ['video', 'social', 'chat', 'games', 'ai'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

/** The kind of a popular service. */
export function kindOf({ tags, category }: Pick<Ranked, 'tags' | 'category'>): ServiceKind {
  if (tags.includes('games')) return 'games';
  if (tags.includes('messaging')) return 'chat';
  if (tags.includes('ai')) return 'ai';
  return category === 'video_streaming' ? 'video' : 'social';
}
