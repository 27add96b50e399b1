import { describe, expect, test } from '@jest/globals';
import { hasMask, shownUrl, unmaskUrl } from './shown-url.ts';

describe('shownUrl(), which masks the credentials in a URL,', () => {
  test.each([
    ['https://user:s3cret@lists.example/a?b=c#d', 'https://***@lists.example/a?b=c#d'],
    ['https://s3cret@lists.example/', 'https://***@lists.example/'],
    ['https://s3cret@192.0.2.1/', 'https://***@192.0.2.1/'],
    ['https://dns.example:s3cret@192.0.2.1/', 'https://***@192.0.2.1/'],
    ['https://:s3cret@lists.example/', 'https://***@lists.example/'],
    ['https:user:s3cret@lists.example/', 'https://***@lists.example/'],
    ['https:\\\\user:s3cret@lists.example\\', 'https://***@lists.example/'],
    ['https://lists.example/a?token=s3cret&x=1', 'https://lists.example/a?token=***&x=1'],
    ['https://lists.example/a?x=%20&API_key=s3cret', 'https://lists.example/a?x=%20&API_key=***'],
    ['https://lists.example/?X-Amz-Signature=s3cret', 'https://lists.example/?X-Amz-Signature=***'],
    ['https://lists.example/?access%5Ftoken=s3cret', 'https://lists.example/?access%5Ftoken=***'],
    ['https://lists.example/?key=s3cret&sig=s3cret', 'https://lists.example/?key=***&sig=***'],
    ['https://user:s3cret@', 'https://***@'],
    ['https://user:s3cret@lists example/?password=s3cret', 'https://***@lists example/?password=***'],
  ])('hides the credentials of %s', (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
    expect(shown).not.toContain('s3cret');
  });

  test.each([
    'https://lists.example/a%2Fb?keyboard=us&monkey=1&author=x&%zz',
    'http://LISTS.example:80/a?b&c=',
    'file:///data/lists/a.txt',
    'https://lists.example/@user/list',
    'tls://dns.example.org@192.0.2.53:853',
    'tls://dns.example.org:853@[2001:db8::53]',
    'https://dns.example.org@192.0.2.53/dns-query',
    '',
  ])('leaves %s unchanged', (url) => {
    expect(shownUrl(url)).toBe(url);
    expect(hasMask(url)).toBe(false);
  });
});

describe('unmaskUrl(), which restores masked credentials,', () => {
  const stored = 'https://us%40er:p%3Ass@lists.example/a?token=x%20y&token=z&n=1';

  test('returns the stored URL for the masked URL', () => {
    expect(hasMask(shownUrl(stored))).toBe(true);
    expect(unmaskUrl(shownUrl(stored), stored)).toBe(stored);
  });

  test('keeps the credentials if the path or other parameters change', () => {
    const given = 'https://***@lists.example/b?n=2&token=***&token=***#x';
    expect(unmaskUrl(given, stored)).toBe('https://us%40er:p%3Ass@lists.example/b?n=2&token=x%20y&token=z#x');
    expect(unmaskUrl('https://new:pass@lists.example/?token=***', stored)).toBe(
      'https://new:pass@lists.example/?token=x%20y',
    );
  });

  test.each([
    'https://***@evil.example/a?token=***&token=***&n=1',
    'http://***@lists.example/a',
    'https://***@lists.example:8443/a',
    'https://lists.example/?apikey=***',
    'https://***@lists.example.evil.example/',
    'lists.example',
  ])('returns null for a masked URL with a different origin: %s', (given) => {
    expect(unmaskUrl(given, stored)).toBeNull();
  });

  test('returns a URL without masks unchanged', () => {
    expect(unmaskUrl('https://lists.example/b', stored)).toBe('https://lists.example/b');
  });

  test('returns the masked URL unchanged if no credentials are stored', () => {
    expect(unmaskUrl('https://***@lists.example/', 'https://lists.example/')).toBe('https://lists.example/');
  });
});
