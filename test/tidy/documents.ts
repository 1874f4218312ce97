/** Documentation names what exists: relative links, and paths of files written as code. */
import { posix } from 'node:path';
import { lineOf, type Rule } from './source.ts';

const link = /\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g;
const codePath = /`((?:src|collectors|evaluators|test|docs|docker)\/[\w./-]+)`/g;

export const documentsNameWhatExists: Rule = (files) => {
  const paths = files.map((file) => file.path);
  const exists = (path: string): boolean =>
    paths.includes(path) || paths.some((other) => other.startsWith(path.endsWith('/') ? path : `${path}/`));
  return files
    .filter((file) => file.path.endsWith('.md'))
    .flatMap((file) => {
      const linked = [...file.text.matchAll(link)].map((match) => ({ match, path: posix.join(posix.dirname(file.path), match[1] ?? '') }));
      const written = [...file.text.matchAll(codePath)].map((match) => ({ match, path: match[1] ?? '' }));
      return [...linked, ...written]
        .filter(({ path }) => !exists(path) && !isLeftOut(path))
        .map(({ match, path }) => `${file.path}:${lineOf(file.text, match.index)}: ${path} does not exist`);
    });
};

/** Fixtures are not among the files that rules look at; LICENSE has no ending. */
function isLeftOut(path: string): boolean {
  return path.startsWith('test/fixtures') || path === 'LICENSE' || path === 'NOTICE';
}
