import { expect, test } from 'vitest';
import { normalizedName, sameTool } from '../../../evaluators/matching/names.ts';

const normalised = [
  { name: 'agent_xg7c', known: [], want: 'agent', because: 'letters and digits are random' },
  { name: 'agent_nxle', known: [], want: 'agent_nxle', because: 'only letters may be a word' },
  { name: 'agent_nxle', known: ['agent'], want: 'agent', because: 'the base is a known tool' },
  { name: 'agent_xg7c', known: ['agent_xg7c', 'agent'], want: 'agent_xg7c', because: 'the name itself is known' },
  { name: 'encode_utf8', known: [], want: 'encode_utf8', because: 'the suffix is a technical word' },
  { name: 'agent_xg7c_ab1c', known: [], want: 'agent_xg7c', because: 'only one suffix goes' },
  { name: '_xg7c', known: [], want: '_xg7c', because: 'nothing would be left' },
  { name: 'agent_7777', known: [], want: 'agent_7777', because: 'only digits may be a number' },
  { name: 'a\nb_x7c9', known: [], want: 'a\nb', because: 'line breaks are characters' },
  { name: 'agent_x7c9\n', known: [], want: 'agent_x7c9\n', because: 'the suffix must end the name' },
];
for (const { name, known, want, because } of normalised) {
  test(`names: ${JSON.stringify(name)} is normalised to ${JSON.stringify(want)}, for ${because}${known.length > 0 ? ' (known tools)' : ''}`, () => {
    expect(normalizedName(name, new Set(known))).toBe(want);
  });
}

const same = [
  { one: 'get user', other: 'get_user', want: true },
  { one: 'get_user', other: 'get user', want: true },
  { one: 'get user!', other: 'get_user', want: true },
  { one: 'a'.repeat(70), other: 'a'.repeat(64), want: true },
  { one: 'Get', other: 'get', want: false },
  { one: '検索', other: '予約', want: false },
  { one: '検索', other: '検索', want: true },
  { one: '!', other: '?', want: false },
];
for (const { one, other, want } of same) {
  test(`names: ${one.slice(0, 12)} and ${other.slice(0, 12)} are ${want ? 'one tool' : 'two tools'}`, () => {
    expect(sameTool(one, other)).toBe(want);
  });
}
