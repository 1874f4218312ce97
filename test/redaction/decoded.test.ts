/** Values that escapes, unseen characters and other forms of letters and digits hide from a search of the plain text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decoded } from '../../src/redaction/decoded.ts';
import { search, type Search } from '../../src/redaction/search.ts';
import { redactionRules } from '../../src/redaction/settings.ts';
import { cpuSeconds } from '../builders/cpu-seconds.ts';
import { propertyRuns } from '../builders/property-runs.ts';

function searching(): Search {
  return search({
    rules: redactionRules([
      { match: 'email', replace: '[email]' },
      { match: 'credit_card', replace: '[card]' },
    ]),
    onRedacted: () => undefined,
  });
}

const hidden: readonly (readonly [name: string, text: string, want: string])[] = [
  ['a JSON escape', 'He said {"to": "anna\\u0040example.com", and', 'He said {"to": "[email]", and'],
  ['a JSON escape, escaped twice and thrice', 'a: anna\\\\u0040example.com b: anna\\\\\\\\u0040example.com.', 'a: [email] b: [email].'],
  ['escapes of every character', '<\\u0061\\u006E\\u006e\\u0061\\u0040\\u0065\\u0078.\\u0063\\u006f\\u006d>', '<[email]>'],
  ['an escape of JavaScript', 'x = "anna\\x40example\\u{2e}com"', 'x = "[email]"'],
  ['an escape of Python', "x = 'anna\\U00000040example.com'", "x = '[email]'"],
  ['a backslash before a sign, as Markdown and Perl write it', 'anna\\_lee\\@example\\.com!', '[email]!'],
  ['an escaped new line before it, which stays', 'cut: {"body":"Hi\\nanna\\u0040example.com\\nBye', 'cut: {"body":"Hi\\n[email]\\nBye'],
  ['an escaped slash before it, which stays', 'cut: {"u":"https:\\/\\/anna\\u0040example.com\\/x', 'cut: {"u":"https:\\/\\/[email]\\/x'],
  ['a percent-escape', 'https://shop.example/?m=%61nna%40example%2Ecom&x=1', 'https://shop.example/?m=[email]&x=1'],
  ['a percent-escape, escaped twice and thrice', '?m=anna%2540example.com&n=anna%252540example.com&', '?m=[email]&n=[email]&'],
  ['a percent-escape beside it, which stays', '?q=to%20anna%40example.com%26cc', '?q=to%20[email]%26cc'],
  [
    'HTML entities',
    '<b>anna&#64;example&period;com</b> anna&#x40;example.com &amp;anna&commat;example.com',
    '<b>[email]</b> [email] &amp;[email]',
  ],
  ['an entity in an entity', 'anna&amp;#64;example.com', '[email]'],
  ['zero-width characters', 'to an\u200bna\u200d@\u2060exam\ufeffple.com\u200b.', 'to [email]\u200b.'],
  ['a soft hyphen', 'anna@exam\u00adple.c\u00adom', '[email]'],
  ['marks of direction', '\u202aanna\u200e@\u2066example.com\u2069', '\u202a[email]\u2069'],
  ['an escaped zero-width character', 'anna\\u200b@example.com, anna%E2%80%8B@example.com', '[email], [email]'],
  ['characters of full width', 'ａｎｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ、', '[email]、'],
  ['a small sign and an ideographic stop', 'anna﹫example。com', '[email]'],
  ['a percent-escape of a character of full width', 'anna%EF%BC%A0example.com', '[email]'],
  ['digits of full width', 'card ４１１１　 ４１１１-1111-1111-1111 ４１１１１１１１１１１１１１１１', 'card ４１１１　 [card] [card]'],
  ['digits of another script', 'card ٤١١١١١١١١١١١١١١١ and ४१११ ११११ ११११ ११११', 'card [card] and [card]'],
  ['mathematical digits', '\u{1d7dc}\u{1d7d9}\u{1d7d9}\u{1d7d9} 1111 1111 1111', '[card]'],
  ['digits with unseen characters between', '4111\u200b1111\u200b1111\u00ad1111', '[card]'],
  [
    'digits as escapes',
    'n=\\u0034111 1111 1111 111\\u0031; 4111%201111%201111%201111; 4111&nbsp;1111&nbsp;1111&#32;1111',
    'n=[card]; [card]; [card]',
  ],
  ['one plain and one hidden', 'bob@example.org anna\\u0040example.com 4111 1111 1111 1111', '[email] [email] [card]'],
];

for (const [name, text, want] of hidden)
  test(`redaction: finds what is behind ${name}, and replaces only that stretch`, () => expect(searching().text(text)).toBe(want));

const harmless: readonly string[] = [
  'C:\\users\\u0041dmin\\x41\\file.txt, 100%, 5%20off, a&b;c, &unknown; &#x110000; \\u12, %zz, %E2%28%A1, %ff',
  'def f(x):\\n\\treturn "\\u00e9t\\u00e9" @ y\\n',
  'https://example.com/a%20b%2Fc?d=%7B%22id%22%3A1234567890123%7D',
  '价格：１２３４元，电话：０１０－１２３４５６７８。谢谢！',
  '👩‍👩‍👧‍👦 ✌️ 1️⃣2️⃣3️⃣4️⃣5️⃣6️⃣7️⃣8️⃣9️⃣0️⃣1️⃣2️⃣3️⃣4️⃣',
  '@dataclass\\n@property\\ndef name\\u0028self\\u0029',
  'import\\u0020x from \\u0022@scope/name\\u0022; node\\u004018.2.1',
];
for (const text of harmless)
  test(`redaction: leaves ${JSON.stringify(text.slice(0, 40))} alone`, () => expect(searching().text(text)).toBe(text));

test('redaction: a text without escapes, unseen characters or other forms is not decoded', () => {
  for (const text of ['', 'plain text, 100% of it & more', 'Grüße, Привет, 你好，世界：好。', 'a\\nb "c" \\"d\\"', '{"a": [1, 2]}'])
    expect(decoded(text)).toBeUndefined();
});

test('redaction: however an address is written, it goes, and what stands around it stays', () => {
  const forms: readonly ((character: string) => string)[] = [
    (character) => character,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    (character) => `\\\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    (character) => `%25${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    (character) => `&#${character.charCodeAt(0)};`,
    (character) => `\u200b${character}`,
    (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0),
  ];
  fc.assert(
    fc.property(
      fc.constantFrom('anna.lee@example.com', 'x1@mail.example.org', '4111111111111111'),
      fc.array(fc.nat(forms.length - 1), { minLength: 20, maxLength: 20 }),
      (value, choice) => {
        const written = [...value].map((character, at) => forms[choice[at] ?? 0]?.(character)).join('');
        // An unseen character in front of it is not part of it.
        expect(searching().text(`<to ${written.replace(/^\u200b/, '')}, x>`)).toMatch(/^<to \[(email|card)\], x>$/);
      },
    ),
    { numRuns: propertyRuns({ short: 100, long: 500 }) },
  );
});

const heavy: readonly (readonly [string, string])[] = [
  ['backslashes', '\\'.repeat(200_000)],
  ['percent signs', '%25'.repeat(70_000)],
  ['entities', '&amp;'.repeat(40_000)],
  ['half entities', '&#0000000'.repeat(20_000)],
  ['unseen characters', '\u200b'.repeat(200_000)],
  ['escapes', '\\u0040a.'.repeat(25_000)],
  ['digits', '４'.repeat(200_000)],
];
for (const [name, text] of heavy)
  test(`redaction: 200,000 characters of ${name} take little time`, () => {
    const hides = (): void => expect(searching().text(`${text} anna\\u0040example.com`).endsWith('anna\\u0040example.com')).toBe(false);
    expect(cpuSeconds(hides)).toBeLessThan(5);
  });
