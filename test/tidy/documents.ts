/** Documentation names what exists: relative links, paths of files written as code, and npm scripts, which code names as well. */
import { posix } from 'node:path';
import { catalogues, type Catalogue } from '../scripts/catalogue.ts';
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

/** Fixtures and recordings are not among the files that rules look at; LICENSE has no ending. */
function isLeftOut(path: string): boolean {
  return path.startsWith('test/fixtures') || path.endsWith('.jsonl') || path === 'LICENSE' || path === 'NOTICE';
}

const script = /\bnpm run (?:--silent |-s )?([a-z][a-z:-]*)(?: -- ([a-z][a-z-]*))?/g;
/** Scripts of an agent's own project, in a workflow and in the tutorial. */
const foreignScripts: ReadonlySet<string> = new Set(['record-agent-runs', 'record', 'gate']);

/** `npm run check -- NAME` and `npm run bench -- NAME` are scripts as well. */
export const scriptsExist: Rule = (files) => {
  const own = files.find(({ path }) => path === 'package.json');
  if (own === undefined) return [];
  const { scripts } = JSON.parse(own.text) as { readonly scripts: { readonly [name: string]: string } };
  const catalogueOf = new Map<string, Catalogue>(Object.entries(catalogues));
  const exists = (name: string, word: string | undefined): boolean => {
    const catalogue = catalogueOf.get(name);
    return Object.hasOwn(scripts, name) && (word === undefined || catalogue === undefined || Object.hasOwn(catalogue.scripts, word));
  };
  return files.flatMap((file) =>
    [...file.text.matchAll(script)]
      .filter(([, name = '', word]) => !exists(name, word) && !foreignScripts.has(name))
      .map((match) => `${file.path}:${lineOf(file.text, match.index)}: ${match[0]} does not exist`),
  );
};
