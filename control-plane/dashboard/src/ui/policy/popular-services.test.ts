import { describe, expect, test } from '@jest/globals';
import { byPopularity, kindOf } from './popular-services.ts';

const service = (id: string, tags: readonly string[] = [], isCustom = false, category = 'social_media') => {
  return { id, name: id, tags, category, isCustom };
};

describe('byPopularity(), the order of services,', () => {
  test('lists custom services, then popular services by use, then other services by name', () => {
    const services = [
      service('1xbet'),
      service('claude', ['popular', 'ai']),
      service('tiktok', ['popular']),
      service('own', [], true),
      service('youtube', ['popular']),
      service('amazon'),
    ];
    expect(services.sort(byPopularity).map(({ id }) => id)).toEqual([
      ...['own', 'youtube', 'tiktok', 'claude', '1xbet', 'amazon'],
    ]);
  });
});

describe('kindOf() for a service', () => {
  test('depends on the tags of a service, then on its category', () => {
    expect(kindOf(service('roblox', ['popular', 'games']))).toBe('games');
    expect(kindOf(service('whatsapp', ['popular', 'messaging']))).toBe('chat');
    expect(kindOf(service('claude', ['popular', 'ai']))).toBe('ai');
    expect(kindOf(service('youtube', ['popular'], false, 'video_streaming'))).toBe('video');
    expect(kindOf(service('tiktok', ['popular']))).toBe('social');
  });
});
