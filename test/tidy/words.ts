/** Words that must not be in the repository: silenced checks, unfinished work, places of one machine. */
import { lineOf, type Rule, type SourceFile } from './source.ts';

interface BannedWord {
  readonly pattern: RegExp;
  readonly why: string;
  readonly where: (file: SourceFile) => boolean;
}

const code = (file: SourceFile): boolean => /\.tsx?$/.test(file.path);
const anywhere = (): boolean => true;
/** Tests may name any path they invent. */
const product = (file: SourceFile): boolean => !file.path.startsWith('test/');

const banned: readonly BannedWord[] = [
  { pattern: /\b(TODO|FIXME|XXX|HACK)\b(?!.*https:\/\/)/, why: 'unfinished work names its issue by a link', where: code },
  { pattern: /\bvi\.(mock|doMock|stubGlobal|useFakeTimers)\b/, why: 'parts are handed in, not mocked', where: code },
  { pattern: /\b(test|it|describe|suite)(\.\w+)*\.(only|skip|todo|skipIf|runIf|fails)\b/, why: 'every test runs', where: code },
  {
    pattern: /\b(eslint|oxlint|biome)-(disable|enable)\b|@ts-(ignore|expect-error|nocheck)\b|\b(v8|c8|istanbul) ignore\b/,
    why: 'a check is never silenced',
    where: code,
  },
  { pattern: /(?<![\w.])\/(work|root|home|Users)\/|(?<![\w.])\/tmp\/(?!\w*\$)/, why: 'a path of one machine', where: product },
  {
    pattern: /\b(dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML)\b/,
    why: 'text of spans is only ever text',
    where: (file) => file.path.startsWith('src/console/'),
  },
  {
    pattern: /registry\.(npmjs|yarnpkg)\.\w+|"resolved":(?! "node")/,
    why: 'where packages come from is the reader’s affair',
    where: anywhere,
  },
];

export const noBannedWords: Rule = (files) =>
  files
    // The rules and the faults planted for them spell the words.
    .filter((file) => !file.path.startsWith('test/tidy/'))
    .flatMap((file) =>
      banned
        .filter(({ where }) => where(file))
        .flatMap(({ pattern, why }) => {
          const match = pattern.exec(file.text);
          return match === null ? [] : [`${file.path}:${lineOf(file.text, match.index)}: “${match[0]}”: ${why}`];
        }),
    );
