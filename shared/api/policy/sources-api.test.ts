import { describe, expect, test } from '@jest/globals';
import { SourceCreateBody } from './sources-api.ts';

const faultsOf = (body: object): string[] =>
  (SourceCreateBody.safeParse({ name: 'a', ...body }).error?.issues ?? []).map(({ message }) => message);

describe('SourceCreateBody', () => {
  test('requires exactly one of a URL and a text, which may be empty', () => {
    expect([faultsOf({ url: 'https://lists.example/a' }), faultsOf({ text: '' })]).toEqual([[], []]);
    const fault = ['expected exactly one of url and text'];
    expect([faultsOf({}), faultsOf({ url: 'https://lists.example/a', text: '' })]).toEqual([fault, fault]);
  });
});
