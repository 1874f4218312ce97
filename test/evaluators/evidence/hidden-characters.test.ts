import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hiddenRuns, revealed, withoutHidden } from '../../../evaluators/evidence/hidden-characters.ts';

const tag = (text: string): string => [...text].map((sign) => String.fromCodePoint(0xe0000 + (sign.codePointAt(0) ?? 0))).join('');
const flag = (region: string): string => `\u{1f3f4}${tag(region)}\u{e007f}`;

const written = [
  { name: 'a zero-width space', text: 'a\u200bb', want: 'a<U+200B>b', kind: 'zero_width' },
  { name: 'a byte order mark', text: '\ufeffa', want: '<U+FEFF>a', kind: 'zero_width' },
  { name: 'a soft hyphen', text: 'a\u00adb', want: 'a<U+00AD>b', kind: 'zero_width' },
  { name: 'a filler that looks like nothing', text: '\u3164', want: '<U+3164>', kind: 'zero_width' },
  { name: 'a line separator', text: 'a\u2028b', want: 'a<U+2028>b', kind: 'zero_width' },
  { name: 'an override of direction', text: '\u202eba\u202c', want: '<U+202E>ba<U+202C>', kind: 'direction' },
  { name: 'an isolate', text: '\u2066a\u2069', want: '<U+2066>a<U+2069>', kind: 'direction' },
  { name: 'text in tags', text: tag('hi'), want: '<U+E0068><U+E0069>', kind: 'tag' },
  {
    name: 'tags behind a flag that is none',
    text: `\u{1f3f4}${tag('hi')}\u{e007f}`,
    want: '\u{1f3f4}<U+E0068><U+E0069><U+E007F>',
    kind: 'tag',
  },
  { name: 'tags behind a flag that is one', text: `${flag('gbeng')}${tag('hi')}`, want: `${flag('gbeng')}<U+E0068><U+E0069>`, kind: 'tag' },
  { name: 'control characters', text: '\u0000\u001b[0m\u0085', want: '<U+0000><U+001B>[0m<U+0085>', kind: 'control' },
  { name: 'a lone return', text: 'a\rb', want: 'a<U+000D>b', kind: 'control' },
  { name: 'a selector behind a letter', text: 'a\ufe0f', want: 'a<U+FE0F>', kind: 'variation_selector' },
  { name: 'a second selector', text: '\u2764\ufe0f\ufe0f', want: '\u2764\ufe0f<U+FE0F>', kind: 'variation_selector' },
  {
    name: 'bytes in selectors behind a picture',
    text: '\u{1f600}\u{e0100}\u{e0141}',
    want: '\u{1f600}<U+E0100><U+E0141>',
    kind: 'variation_selector',
  },
  { name: 'a joiner between Latin letters', text: 'a\u200db', want: 'a<U+200D>b', kind: 'zero_width' },
  { name: 'two joiners in Persian', text: 'می\u200c\u200cخواهم', want: 'می<U+200C><U+200C>خواهم', kind: 'zero_width' },
] as const;
for (const { name, text, want, kind } of written) {
  test(`hidden characters: ${name}`, () => {
    expect(revealed(text)).toBe(want);
    expect(hiddenRuns(text, 10)[0]?.kind).toBe(kind);
    expect(withoutHidden(text)).toBe(want.replaceAll(/<U\+[0-9A-F]+>/g, ''));
  });
}

const kept = [
  { name: 'lines and columns', text: 'a\n\tb' },
  { name: 'letters of many scripts', text: 'é ß 漢字 한국어 עברית العربية ไทย हिन्दी' },
  { name: 'a non-joiner that Persian spells', text: 'می\u200cخواهم' },
  { name: 'a joiner that Hindi spells', text: 'क्\u200dष' },
  {
    name: 'a family, a heart, a keycap',
    text: '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u2764\ufe0f 1\ufe0f\u20e3 \u2764\ufe0f\u200d\u{1f525} \u{1f469}\u{1f3fd}\u200d\u{1f4bb}',
  },
  { name: 'the flags of three countries', text: `${flag('gbeng')} ${flag('gbsct')} ${flag('gbwls')}` },
  { name: 'a variant of a character', text: '葛\u{e0100}' },
];
for (const { name, text } of kept) {
  test(`hidden characters: ${name} stay unchanged`, () => {
    expect(revealed(text)).toBe(text);
    expect(hiddenRuns(text, 10)).toEqual([]);
    expect(withoutHidden(text)).toBe(text);
  });
}

test('hidden characters: line ends of two characters are line ends', () => {
  expect(revealed('a\r\nb')).toBe('a\nb');
  expect(hiddenRuns('a\r\nb', 10)).toEqual([]);
});

test('hidden characters: the rest of a long run is given as a number, and runs beyond the limit are not listed', () => {
  expect(revealed('\u200b'.repeat(1064))).toBe(`${'<U+200B>'.repeat(64)}<1000 more hidden characters>`);
  expect(hiddenRuns('a\u200b\u200b'.repeat(30), 5)).toHaveLength(5);
  expect(hiddenRuns('a\u200b\u200b', 5)).toEqual([{ kind: 'zero_width', at: 1, count: 2, length: 2 }]);
});

test('hidden characters: what is revealed holds none any more, and showing it again changes nothing', () => {
  const signs = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '\r',
    '\u200b',
    '\u200c',
    '\u200d',
    '\ufe0f',
    '\u{1f600}',
    'م',
    '\u{e0041}',
    '\u{1f3f4}',
    '葛',
    '\u{e0100}',
    '\u202e',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 30 }), (parts) => {
      const once = revealed(parts.join(''));
      expect(revealed(once)).toBe(once);
      expect(hiddenRuns(once, 100)).toEqual([]);
    }),
  );
});
